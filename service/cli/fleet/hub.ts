/** The hub of a fleet, for an operator: its buckets and streams, and requests to sites. */
import { randomUUID } from 'node:crypto';
import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { errors, type NatsConnection, nanos } from '@nats-io/transport-node';
import { type FleetBox, type FleetContent, fleetBox, fleetContent } from '../../contract/fleet.ts';
import { type Play, play } from '../../contract/plays.ts';
import {
  CONTENT_BUCKET,
  CONTENT_KEY,
  commandSubject,
  contentRepublish,
  OPERATOR_INBOX,
  STATUS_BUCKET,
  STREAMS,
  type Upward,
  upwardSubject,
} from '../../domain/fleet-subjects.ts';
import { openLine } from '../../platform/nats.ts';

/** A box, and when the hub stored its last status. */
export interface KnownBox extends FleetBox {
  seenAt: string;
}

export interface Site {
  site: string;
  content: FleetContent | null;
  boxes: KnownBox[];
}

/** The hub has no buckets. */
export class NotPrepared extends Error {
  override readonly name = 'NotPrepared';
}

const DAY_MS = 86_400_000;
/** The status of a box that has not written for this long is deleted. */
const STATUS_TTL_MS = 30 * DAY_MS;
const RECORDS_DAYS = 90;
const DUPLICATES_MS = 600_000;
/** Ids of plays in memory, to recognise repeats. */
const MAX_IDS = 1_000_000;

const ignoreMissing = (error: unknown): null => {
  if (error instanceof JetStreamApiError && error.status === 404) return null;
  throw error;
};

const exists = async (manager: JetStreamManager, stream: string): Promise<boolean> =>
  (await manager.streams.info(stream).catch(ignoreMissing)) !== null;

export const openHub = async (url: string, credentials: string | null) => {
  const nats: NatsConnection = await openLine({ url, credentials }, 'signage command line', OPERATOR_INBOX);
  const buckets = new Kvm(jetstream(nats));

  const openBucket = async (name: string): Promise<KV> => {
    const manager = await jetstreamManager(nats, { checkAPI: false });
    if (!(await exists(manager, `KV_${name}`))) throw new NotPrepared();
    return buckets.open(name, { allow_direct: true });
  };

  /**
   * The time of day at the hub, ms since the epoch: it dates a consumer, which is made for that alone. Without permission
   * for it, or without buckets, the clock of this machine.
   */
  const now = async (): Promise<number> => {
    const manager = await jetstreamManager(nats, { checkAPI: false });
    const stream = `KV_${STATUS_BUCKET}`;
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
  };

  return {
    now,
    close: () => nats.close(),

    /** Makes the buckets and streams that are missing. @returns the names of those that were made */
    init: async (replicas: number): Promise<string[]> => {
      const manager = await jetstreamManager(nats);
      const made: string[] = [];
      const makeMissing = async (stream: string, name: string, make: () => Promise<unknown>): Promise<void> => {
        if (await exists(manager, stream)) return;
        await make();
        made.push(name);
      };
      for (const [name, more] of [
        [CONTENT_BUCKET, { history: 5, republish: contentRepublish }],
        [STATUS_BUCKET, { ttl: STATUS_TTL_MS }],
      ] as const) {
        await makeMissing(`KV_${name}`, name, () => buckets.create(name, { ...more, replicas, allow_direct: true }));
      }
      for (const kind of Object.keys(STREAMS) as Upward[]) {
        await makeMissing(STREAMS[kind], STREAMS[kind], () =>
          manager.streams.add({
            name: STREAMS[kind],
            subjects: [upwardSubject('*', kind)],
            max_age: nanos(RECORDS_DAYS * DAY_MS),
            duplicate_window: nanos(DUPLICATES_MS),
            num_replicas: replicas,
          }),
        );
      }
      return made;
    },

    /** All sites that the hub knows, by name. @throws NotPrepared */
    sites: async (): Promise<Site[]> => {
      const bucket = await openBucket(STATUS_BUCKET);
      const sites = new Map<string, Site>();
      const { values } = await bucket.status();
      if (values === 0) return [];
      for await (const entry of await bucket.watch()) {
        const [name = '', part] = entry.key.split('.');
        const site = sites.get(name) ?? { site: name, content: null, boxes: [] };
        const value = entry.operation === 'PUT' ? parse(entry.string()) : null;
        const content = fleetContent.safeParse(value);
        const box = fleetBox.safeParse(value);
        if (part === CONTENT_KEY && content.success) site.content = content.data;
        else if (box.success) site.boxes.push({ ...box.data, seenAt: entry.created.toISOString() });
        if (part === CONTENT_KEY ? content.success : box.success) sites.set(name, site);
        if (entry.delta === 0) break;
      }
      return [...sites.values()].sort((a, b) => (a.site < b.site ? -1 : 1));
    },

    /**
     * Sends a command to a site; resolves with its answer. Null: the site is silent.
     * @param expiresAt by the clock of the hub, ms since the epoch
     * @param ms to wait for the answer
     */
    command: async (
      site: string,
      target: string,
      body: Record<string, unknown>,
      { expiresAt, ms }: { expiresAt: number; ms: number },
    ): Promise<unknown> => {
      const message = { ...body, id: randomUUID(), expiresAt };
      try {
        return (await nats.request(commandSubject(site, target), JSON.stringify(message), { timeout: ms })).json();
      } catch (error) {
        const isSilent = error instanceof errors.TimeoutError || error instanceof errors.NoRespondersError;
        if (isSilent || (error instanceof errors.RequestError && error.isNoResponders())) return null;
        throw error;
      }
    },

    /** Stores the content that sites are to play. @param bytes gzipped. @throws NotPrepared */
    want: async (sites: readonly string[], bytes: Uint8Array): Promise<void> => {
      const bucket = await openBucket(CONTENT_BUCKET);
      for (const site of sites) await bucket.put(site, bytes);
    },

    /** Plays of all sites or of one, in the order in which they came, each one once. @throws NotPrepared */
    async *plays(site: string | null): AsyncGenerator<Play[]> {
      const manager = await jetstreamManager(nats, { checkAPI: false });
      if (!(await exists(manager, STREAMS.plays))) throw new NotPrepared();
      const { name } = await manager.consumers.add(STREAMS.plays, {
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.All,
        filter_subject: upwardSubject(site ?? '*', 'plays'),
        inactive_threshold: nanos(60_000),
      });
      const consumer = await jetstream(nats).consumers.get(STREAMS.plays, name);
      const known = new Set<string>();
      for (let pending = (await consumer.info()).num_pending; pending > 0; ) {
        const batch: Play[] = [];
        let received = 0;
        for await (const message of await consumer.fetch({ max_messages: Math.min(pending, 500), expires: 5_000 })) {
          pending = message.info.pending;
          received += 1;
          const { data } = play.safeParse(parse(message.string()));
          if (data === undefined || known.has(data.play_id)) continue;
          if (known.size >= MAX_IDS) known.clear();
          known.add(data.play_id);
          batch.push(data);
        }
        yield batch;
        if (received === 0) break;
      }
      await consumer.delete();
    },
  };
};
export type Hub = Awaited<ReturnType<typeof openHub>>;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
