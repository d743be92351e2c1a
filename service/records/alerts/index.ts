/** Alerts: reports when a screen, a box, the content, a stream or a disk fails, and when it has recovered. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { Content } from '../../content/index.ts';
import {
  type Alert,
  type AnnouncedAlert,
  announcedAlert,
  mostOutages,
  type OutageRecord,
  outageRecord,
  type PeerAlerts,
  peerAlerts,
} from '../../contract/alerts.ts';
import { readFields } from '../../contract/fields.ts';
import type { Devices } from '../../devices/index.ts';
import { doubled } from '../../domain/backoff.ts';
import { isPlausibleTime } from '../../domain/merge.ts';
import { readJson } from '../../http/body.ts';
import type { HealthReport, Module, ServiceContext } from '../../module.ts';
import type { Peers } from '../../peers/index.ts';
import { systemDisk } from '../../platform/store/disk.ts';
import { createDurable } from '../../platform/store/durable.ts';
import type { Streams } from '../../streams/index.ts';
import { pauseAfter, type SendWebhook } from '../webhook.ts';
import { announce, type DueAlert, keyOf, noOutages, record, reduce, speakerOf } from './outages.ts';
import { createWatch } from './watch.ts';

interface Dependencies {
  content: Pick<Content, 'screens' | 'hours' | 'status'>;
  streams: Pick<Streams, 'list'>;
  peers: Pick<Peers, 'all' | 'alive' | 'ask' | 'broadcast' | 'refresh' | 'settled' | 'addState'>;
  devices: Pick<Devices, 'statuses' | 'sightings'>;
  /** Posts alerts to the operator's receiver; null: there is none. */
  send: SendWebhook | null;
}

/** Somewhere that the alerts of the site are delivered to. */
export interface AlertReceiver {
  key: string;
  /**
   * @param id of the message, the same each time it is delivered
   * @throws Error whose message is a clause: "the receiver answers 500"
   */
  deliver(alert: Alert, id: string, signal: AbortSignal): Promise<void>;
}

export interface Alerts extends Module {
  health(): HealthReport;
  start(): void;
  close(): Promise<void>;
  /** Delivers the alerts of the site to a further receiver. Called before the start. */
  alertTo(receiver: AlertReceiver): void;
  /** Keeps quiet about this box and its displays for ten minutes, on all boxes: its version is being replaced. */
  beginUpdate(): Promise<void>;
}

const TICK_MS = 1_000;
/** Delay before another box sends a message that is due: the sender may be away. Doubles each time that it is not. */
const OVERDUE_MS = 3_000;
const MAX_OVERDUE_MS = 60_000;
/** Failures in a row after which another box sends the messages. */
const MAX_FAILURES = 3;
const UPDATE_MS = 600_000;
/** Messages that wait for one of several receivers. */
const MAX_TAKEN = 1_000;

/** For how long after an announcement a box may still see what was before; it may detect a lost peer later than others. */
const SETTLE_MS = 60_000;

interface State {
  outages: readonly OutageRecord[];
  announced: readonly AnnouncedAlert[];
}

const schema: z.ZodType<State> = z.object({
  outages: z.array(outageRecord),
  announced: z.array(announcedAlert).catch([]),
});

const webhookReceiver = (send: SendWebhook): AlertReceiver => ({
  key: 'webhook',
  deliver: (alert, id, signal) => send({ id, body: JSON.stringify(alert) }, signal),
});

export const createAlerts = async (
  context: ServiceContext,
  { content, streams, peers, devices, send }: Dependencies,
): Promise<Alerts> => {
  const { options, log, now, monotonicNow, ids, dirs, keep } = context;
  const graceMs = options.alertGraceSeconds * 1000;
  const watch = createWatch(context, { content, streams, peers, devices });
  const store = keep(
    await createDurable({
      path: join(dirs.data, 'alerts.json'),
      schema,
      initial: { outages: [], announced: [] },
      log,
      disk: systemDisk,
      now,
    }),
  );
  const receivers: AlertReceiver[] = send === null ? [] : [webhookReceiver(send)];
  const closing = new AbortController();
  let outages = record(noOutages, store.read().outages);
  outages = announce(outages, store.read().announced, monotonicNow());
  /** Receivers that have accepted a message that others have not, by its id. */
  const taken = new Map<string, Set<string>>();
  let failures = 0;
  let retryAt = 0;
  let reason: string | null = null;
  /** When the box that sends the messages is next asked about those that are due; null: none are. */
  let askAt: number | null = null;
  let asked = 0;
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;
  let timer: NodeJS.Timeout | undefined;

  const receiverState = () => (receivers.length === 0 ? 'none' : failures >= MAX_FAILURES ? 'failing' : 'ok');
  peers.addState(() => ({ alerts: { receiver: receiverState(), ...watch.own() } }));

  /** What another box needs to take over from this one. */
  const shared = (): PeerAlerts => ({
    outages: [...outages.records.values()],
    announced: [...outages.announced.values()].map(({ alert }) => alert),
  });
  // The store reports a disk that cannot be written; other boxes have the records as well.
  const save = (): Promise<unknown> => store.update(shared).catch(() => undefined);

  /** Keeps newer records, and stores them. */
  const learn = async (news: readonly OutageRecord[]): Promise<void> => {
    const before = outages.records;
    outages = record(
      outages,
      news.filter(({ updatedAt }) => isPlausibleTime(updatedAt, now())),
    );
    const newest = [...outages.records.values()].toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
    if (newest.length > mostOutages) {
      outages = { ...outages, records: new Map(newest.slice(0, mostOutages).map((each) => [keyOf(each), each])) };
    }
    const isSame = newest.every((each) => before.get(keyOf(each)) === each);
    if (!isSame) await save();
  };

  /** Merges what another box has announced, and may have sent. */
  const learnFrom = async (news: PeerAlerts): Promise<void> => {
    const announced = news.announced.filter(({ at }) => isPlausibleTime(at, now()));
    outages = announce(outages, announced, monotonicNow() + SETTLE_MS);
    await learn(news.outages);
  };

  const observe = (): DueAlert[] => {
    const conditions = watch.conditions(outages);
    const at = new Date(now()).toISOString();
    const [next, due] = reduce(outages, { conditions, at }, monotonicNow(), graceMs);
    outages = next;
    return due;
  };

  const speaker = (): string | null =>
    speakerOf([
      { nodeId: ids.nodeId, receiver: receiverState() },
      ...peers.alive().map(({ nodeId, state }) => ({ nodeId, receiver: state.alerts?.receiver ?? 'none' })),
    ]);

  const askAll = async (): Promise<void> => {
    const [{ answers }] = await Promise.all([peers.broadcast('records.alerts'), peers.refresh()]);
    for (const answer of answers) await learnFrom(answer);
  };

  const deliver = async ({ alert, record: outage }: DueAlert): Promise<void> => {
    const { type, at, subject, message } = alert;
    const complete: Alert = { type, at, site: options.site, subject, message };
    const id = `alert_${createHash('sha256').update(JSON.stringify(complete)).digest('hex').slice(0, 32)}`;
    const done = taken.get(id) ?? new Set();
    if (!taken.has(id)) {
      // If this box stops before it can report that the message was sent, the next one repeats it with the same id.
      outages = announce(outages, [alert], monotonicNow());
      await Promise.all([save(), peers.broadcast('records.sendAlerts', { outages: [], announced: [alert] })]);
    }
    taken.set(id, done);
    const results = await Promise.allSettled(
      receivers.map(async (receiver) => {
        if (done.has(receiver.key)) return;
        await receiver.deliver(complete, id, closing.signal);
        done.add(receiver.key);
      }),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    taken.delete(id);
    // Immediately: a box that takes over from this one repeats what it does not know of.
    const sent = peers.broadcast('records.sendAlerts', { outages: [outage], announced: [] });
    await learn([outage]);
    await sent;
  };

  const deliverAll = async (due: readonly DueAlert[]): Promise<void> => {
    try {
      for (const each of due) await deliver(each);
      if (reason !== null) log.info('alerts are delivered again');
      failures = 0;
      reason = null;
    } catch (error) {
      if (closing.signal.aborted) return;
      failures += 1;
      retryAt = monotonicNow() + pauseAfter(failures, Math.random());
      if (reason === null) log.warn({ reason: (error as Error).message }, 'an alert could not be delivered');
      reason = (error as Error).message;
      for (const oldest of taken.keys()) if (taken.size > MAX_TAKEN) taken.delete(oldest);
    }
  };

  const tick = async (): Promise<void> => {
    if (observe().length === 0) {
      askAt = null;
      asked = 0;
      return;
    }
    const time = monotonicNow();
    askAt ??= time + OVERDUE_MS;
    const other = speaker();
    if (other !== ids.nodeId) {
      if (time < askAt || other === null) return;
      asked += 1;
      askAt = time + doubled(asked, OVERDUE_MS, MAX_OVERDUE_MS);
      // Its answer lists what it has sent; without an answer it is away, and the next one sends.
      const answer = await peers.ask({ nodeId: other }, 'records.alerts');
      if (answer.ok) await learnFrom(answer.body);
      return;
    }
    if (time < retryAt) return;
    await askAll();
    if (speaker() === ids.nodeId) await deliverAll(observe());
  };

  const run = (): void => {
    if (isRunning || receivers.length === 0) return;
    isRunning = true;
    running = tick()
      .catch((error: unknown) => log.error({ err: error }, 'alerts could not be decided'))
      .finally(() => {
        isRunning = false;
      });
  };

  return {
    alertTo: (receiver) => void receivers.push(receiver),
    beginUpdate: async () => {
      const time = now();
      const [at, endedAt] = [time, time + UPDATE_MS].map((each) => new Date(each).toISOString()) as [string, string];
      const update: OutageRecord = { kind: 'update', subject: ids.nodeId, at, endedAt, updatedAt: at };
      await learn([update]);
      await peers.broadcast('records.sendAlerts', { outages: [update], announced: [] });
    },
    routes: {
      'GET /api/peers/alerts': (ctx) => {
        ctx.set('Cache-Control', 'no-store');
        ctx.body = shared();
      },
      'POST /api/peers/alerts': async (ctx) => {
        await learnFrom(readFields(peerAlerts, await readJson(ctx)));
        ctx.body = {};
      },
    },
    health: () => ({ notes: reason === null ? [] : [`Alerts cannot be delivered: ${reason}.`] }),
    start: () => {
      watch.start();
      void peers
        .settled()
        .then(askAll)
        .then(() => {
          if (closing.signal.aborted) return;
          timer = setInterval(run, TICK_MS);
          timer.unref();
        });
    },
    close: async () => {
      closing.abort();
      clearInterval(timer);
      watch.close();
      await running;
    },
  };
};
