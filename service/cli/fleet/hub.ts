/** The hub of a fleet, for the head office: what sites report, commands to sites, and content for them. */
import { randomUUID } from 'node:crypto';
import { AckPolicy, DeliverPolicy, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { headers, type NatsConnection, nanos } from '@nats-io/transport-node';
import {
  type FleetAnswer,
  type FleetBox,
  type FleetContent,
  type FleetPush,
  fleetAnswer,
  fleetBox,
  fleetContent,
} from '../../contract/fleet.ts';
import { type Play, play } from '../../contract/plays.ts';
import {
  answerSubject,
  CONTENT_BUCKET,
  CONTENT_KEY,
  commandSubject,
  keySubject,
  PUSH_HEADERS,
  STATUS_BUCKET,
  STREAMS,
  siteOf,
  statusKey,
  streamOf,
  upwardSubject,
} from '../../domain/fleet-subjects.ts';
import { jsonOf } from '../../domain/json.ts';
import { prepareStreams, streamInfo, streamIssues } from './streams.ts';

/** A box, and when the hub stored its last status. */
export interface KnownBox extends FleetBox {
  seenAt: string;
}

export interface Site {
  site: string;
  content: FleetContent | null;
  /** When the hub stored that; null: there is none. */
  reportedAt: string | null;
  boxes: KnownBox[];
}

/** The hub has no buckets. */
export class NotPrepared extends Error {
  override readonly name = 'NotPrepared';
}

/** The hub is of a version that one message of a site ends. */
export class OldServer extends Error {
  override readonly name = 'OldServer';
}

/** What a site answers to a command; `silent`: nothing came in time; `nonsense`: it is no answer. */
export type CommandAnswer = FleetAnswer | 'silent' | 'nonsense';

/** A document for the bucket. */
export interface Packed {
  /** Gzipped. */
  bytes: Uint8Array;
  push: Omit<FleetPush, 'site'>;
}

/** The oldest nats-server that the accounts of sites need. */
export const OLDEST_SERVER = '2.10.27';
/** Ids of plays in memory, to recognise repeats. */
const MAX_IDS = 1_000_000;

/** Whether a version such as `2.10.27` is at least another one; a prerelease counts as its release. Pure. */
export const isAtLeast = (version: string, least: string): boolean => {
  const numbers = (text: string): number[] => text.replace(/-.*$/, '').split('.').map(Number);
  const [is, want] = [numbers(version), numbers(least)];
  const at = want.findIndex((number, index) => number !== (is[index] ?? 0));
  return at < 0 || (is[at] ?? 0) > (want[at] ?? 0);
};

export const openHub = (nats: NatsConnection) => {
  let opening: Promise<JetStreamManager> | undefined;
  const open = (): Promise<JetStreamManager> => {
    opening ??= jetstreamManager(nats);
    return opening;
  };

  /** @throws NotPrepared */
  const prepared = async (stream: string): Promise<JetStreamManager> => {
    const manager = await open();
    if ((await streamInfo(manager, stream)) === null) throw new NotPrepared();
    return manager;
  };

  return {
    /**
     * The time of day at the hub, ms since the epoch: it dates a consumer, which is made for that alone. Without buckets, the
     * clock of this machine.
     */
    now: async (): Promise<number> => {
      const manager = await open();
      const stream = streamOf(STATUS_BUCKET);
      try {
        const { name, created } = await manager.consumers.add(stream, {
          ack_policy: AckPolicy.None,
          deliver_policy: DeliverPolicy.New,
          inactive_threshold: nanos(5_000),
          mem_storage: true,
        });
        await manager.consumers.delete(stream, name);
        return Date.parse(created);
      } catch {
        return Date.now();
      }
    },

    /** Makes and repairs the buckets and streams. @throws OldServer */
    init: async (replicas: number | null) => {
      const { version = '' } = nats.info ?? {};
      if (!isAtLeast(version, OLDEST_SERVER)) throw new OldServer(version);
      return prepareStreams(await open(), replicas);
    },

    /** Sentences about the hub itself. */
    issues: async (): Promise<string[]> => streamIssues(await open()),

    /** All sites that the hub knows, by name. What is no report is left out. @throws NotPrepared */
    sites: async (): Promise<Site[]> => {
      await prepared(streamOf(STATUS_BUCKET));
      const bucket = await new Kvm(jetstream(nats)).open(STATUS_BUCKET);
      const sites = new Map<string, Site>();
      const { values } = await bucket.status();
      if (values === 0) return [];
      for await (const entry of await bucket.watch()) {
        // The site is that of the key; the value is not trusted.
        const [name = '', part = ''] = entry.key.split('.');
        const site = sites.get(name) ?? { site: name, content: null, reportedAt: null, boxes: [] };
        const value = entry.operation === 'PUT' ? jsonOf(entry.string()) : null;
        const given = typeof value === 'object' && value !== null ? { ...value, site: name } : null;
        const content = fleetContent.safeParse(given);
        const box = fleetBox.safeParse(given === null ? null : { ...given, nodeId: part });
        const at = entry.created.toISOString();
        if (part === CONTENT_KEY && content.success) [site.content, site.reportedAt] = [content.data, at];
        else if (box.success) site.boxes.push({ ...box.data, seenAt: at });
        if (part === CONTENT_KEY ? content.success : box.success) sites.set(name, site);
        if (entry.delta === 0) break;
      }
      return [...sites.values()].sort((a, b) => (a.site < b.site ? -1 : 1));
    },

    /** Deletes what a site has reported: else it would count as one of the fleet until its status expires. */
    forget: async (site: string): Promise<void> => {
      if ((await streamInfo(await open(), streamOf(STATUS_BUCKET))) === null) return;
      const bucket = await new Kvm(jetstream(nats)).open(STATUS_BUCKET);
      for await (const key of await bucket.keys(statusKey(site, '*'))) await bucket.delete(key);
    },

    /**
     * Sends a command to a site.
     * @param expiresAt by the clock of the hub, ms since the epoch
     * @param ms to wait for the answer
     */
    command: (
      site: string,
      target: string,
      body: Record<string, unknown>,
      { expiresAt, ms }: { expiresAt: number; ms: number },
    ): Promise<CommandAnswer> =>
      new Promise((resolve, reject) => {
        const id = randomUUID();
        const reply = answerSubject(site, id.replaceAll('-', ''));
        const answers = nats.subscribe(reply, {
          max: 1,
          timeout: ms,
          callback: (error, message) => {
            if (error !== null) {
              if (error.name === 'TimeoutError') resolve('silent');
              else reject(error);
            } else if (message.headers?.code === 503) resolve('silent');
            else {
              const { success, data } = fleetAnswer.safeParse(jsonOf(message.string()));
              resolve(success ? data : 'nonsense');
            }
          },
        });
        const message = { ...body, id, site, target, expiresAt };
        try {
          nats.publish(commandSubject(site, target), JSON.stringify(message), { reply });
        } catch (error) {
          answers.unsubscribe();
          reject(error);
        }
      }),

    /** Stores the content that a site is to play. @throws NotPrepared */
    want: async (site: string, { bytes, push }: Packed): Promise<void> => {
      const meta = headers();
      meta.set(PUSH_HEADERS.id, push.id);
      meta.set(PUSH_HEADERS.at, push.at);
      await jetstream(nats)
        .publish(keySubject(CONTENT_BUCKET, site), bytes, { headers: meta })
        .catch((error: unknown) => {
          throw (error as Error).name === 'JetStreamNotEnabled' ? new NotPrepared() : error;
        });
    },

    /** Plays of all sites or of one, in the order in which they came, each one once. @throws NotPrepared */
    async *plays(site: string | null): AsyncGenerator<Play[]> {
      const manager = await prepared(STREAMS.plays);
      const { name } = await manager.consumers.add(STREAMS.plays, {
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.All,
        filter_subject: upwardSubject(site ?? '*', 'plays', '*'),
        // What reads the plays may pause, as a pager does.
        inactive_threshold: nanos(3_600_000),
      });
      const consumer = await jetstream(nats).consumers.get(STREAMS.plays, name);
      const known = new Set<string>();
      for (let pending = (await consumer.info()).num_pending; pending > 0; ) {
        const batch: Play[] = [];
        let received = 0;
        for await (const message of await consumer.fetch({ max_messages: Math.min(pending, 500), expires: 5_000 })) {
          pending = message.info.pending;
          received += 1;
          const value = jsonOf(message.string());
          const from = siteOf(message.subject);
          const { data } = play.safeParse(
            typeof value === 'object' && value !== null ? { ...value, site: from } : null,
          );
          const key = `${from} ${data?.play_id}`;
          if (data === undefined || known.has(key)) continue;
          if (known.size >= MAX_IDS) known.clear();
          known.add(key);
          batch.push(data);
        }
        yield batch;
        if (received === 0) break;
      }
      await consumer.delete();
    },
  };
};
export type Hub = ReturnType<typeof openHub>;
