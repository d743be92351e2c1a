/** Alerts: reports when a screen, a box, the content, a stream or a disk fails, and when it has recovered. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Content } from '../../content/index.ts';
import { type Alert, type AlertRecord, type Occasion, passedAlert, peerAlerts } from '../../contract/alerts.ts';
import { readFields } from '../../contract/fields.ts';
import type { Devices } from '../../devices/index.ts';
import { remember } from '../../domain/collections.ts';
import { laterThan } from '../../domain/merge.ts';
import { singleFlight } from '../../domain/single-flight.ts';
import { readJson } from '../../http/body.ts';
import type { Routes } from '../../http/routes.ts';
import type { HealthReport, ServiceContext } from '../../module.ts';
import type { Peers } from '../../peers/index.ts';
import { openDurable } from '../../platform/store/durable.ts';
import type { Screens } from '../../screens/index.ts';
import type { Streams } from '../../streams/index.ts';
import { pauseAfter, type SendWebhook } from '../webhook.ts';
import { keyOf, noOutages, readable, record, reduce, shownSubject, speakerOf, typeOf } from './outages.ts';
import { createWatch, UPDATE_MS } from './watch.ts';

interface Dependencies {
  content: Pick<Content, 'screens' | 'hours' | 'status' | 'sessionPages'>;
  streams: Pick<Streams, 'list'>;
  peers: Pick<Peers, 'all' | 'alive' | 'broadcast' | 'settled' | 'addState'>;
  screens: Pick<Screens, 'failingSlides'>;
  devices: Pick<Devices, 'statuses' | 'sightings'>;
  /** Posts alerts to the operator's receiver; null: there is none. */
  send: SendWebhook | null;
}

/** Somewhere that the alerts of the site are delivered to. */
export type AlertReceiver = ReturnType<typeof webhookReceiver>;

export type Alerts = Awaited<ReturnType<typeof createAlerts>>;

/** Failures in a row after which another box sends the messages. */
const MAX_FAILURES = 3;
/** Messages that wait for one of several receivers. */
const MAX_TAKEN = 1_000;
const MAX_MESSAGE = 2_000;

const schema = z.object({ records: z.array(passedAlert) });

const webhookReceiver = (send: SendWebhook) => ({
  key: 'webhook',
  /**
   * @param id of the message, the same each time it is delivered
   * @throws Error whose message is a clause: "the receiver answers 500"
   */
  deliver: (alert: Alert, id: string, signal: AbortSignal): Promise<void> =>
    send({ id, body: JSON.stringify(alert) }, signal),
});

export const createAlerts = async (
  context: ServiceContext,
  { content, streams, peers, screens, devices, send }: Dependencies,
) => {
  const { options, log, now, monotonicNow, random, tempo, ids, keep } = context;
  const watch = createWatch(context, { content, streams, peers, screens, devices });
  const store = keep(await openDurable(context, 'alerts.json', { schema, initial: { records: [] } }));
  const receivers: AlertReceiver[] = send === null ? [] : [webhookReceiver(send)];
  const closing = new AbortController();
  let outages = record(noOutages, store.read().records, now());
  /** The receivers that have accepted a message, by its id: of those that were tried and not all have, the latest try last. */
  const taken = new Map<string, Set<string>>();
  let failures = 0;
  let retryAt = 0;
  let reason: string | null = null;
  let wasSpeaker = false;
  /** While this box sends: the others that it has asked for their records. */
  let asked = new Set<string>();
  let spokeAt = monotonicNow();
  let timer: NodeJS.Timeout | undefined;

  const receiverState = () => (receivers.length === 0 ? 'none' : failures >= MAX_FAILURES ? 'failing' : 'ok');
  peers.addState(() => ({ alerts: { receiver: receiverState(), ...watch.own() } }));

  const records = (): AlertRecord[] => [...outages.records.values()];

  const learn = async (news: readonly AlertRecord[]): Promise<void> => {
    const before = outages;
    outages = record(outages, news, now());
    // The store reports a disk that cannot be written; other boxes have the records as well.
    if (outages !== before) await store.update(() => ({ records: records() })).catch(() => undefined);
  };
  const tell = async (news: AlertRecord): Promise<void> => {
    await Promise.all([learn([news]), peers.broadcast('records.sendAlerts', [news])]);
  };

  /** The message as receivers get it, and its id. */
  const messageOf = (due: AlertRecord) => {
    const type = typeOf(due);
    if (type === null) return null;
    const { at, message } = due;
    const alert: Alert = { type, at, site: options.site, subject: shownSubject(due), message };
    const id = `alert_${createHash('sha256').update(JSON.stringify(alert)).digest('hex').slice(0, 32)}`;
    return { due, alert, id };
  };
  type Message = NonNullable<ReturnType<typeof messageOf>>;

  /** First those that were never tried, then the ones tried longest ago: what a receiver refuses holds up nothing else. */
  const inTurn = (due: readonly AlertRecord[]): Message[] => {
    const turns = new Map([...taken.keys()].map((id, turn) => [id, turn]));
    const turnOf = ({ id }: Message): number => turns.get(id) ?? -1;
    return due.flatMap((each) => messageOf(each) ?? []).toSorted((a, b) => turnOf(a) - turnOf(b));
  };

  const deliver = async ({ due, alert, id }: Message): Promise<void> => {
    // If this box stops before it can report that the message was sent, the next one repeats it with the same id.
    if (!taken.has(id)) await tell(due);
    const done = taken.get(id) ?? new Set();
    remember(taken, id, done, MAX_TAKEN);
    const [decisive, ...further] = receivers.map(async (receiver) => {
      if (done.has(receiver.key)) return;
      await receiver.deliver(alert, id, closing.signal);
      done.add(receiver.key);
    });
    for (const each of further)
      each.catch((error: unknown) => log.debug({ err: error, type: alert.type }, 'an alert waits'));
    await decisive;
    taken.delete(id);
    await tell({ ...due, isSent: true });
  };

  const deliverAll = async (due: readonly AlertRecord[]): Promise<void> => {
    const faults: Error[] = [];
    for (const each of inTurn(due)) {
      // One that is refused does not hold up the others; a receiver that is away is not tried with each of them.
      if (faults.length < MAX_FAILURES) await deliver(each).catch((error: Error) => faults.push(error));
    }
    if (closing.signal.aborted) return;
    const [fault] = faults;
    if (fault === undefined) {
      if (reason !== null) log.info('alerts are delivered again');
      failures = 0;
      reason = null;
      return;
    }
    failures += 1;
    retryAt = monotonicNow() + pauseAfter(tempo.records, failures, random());
    if (reason === null) log.warn({ reason: fault.message }, 'an alert could not be delivered');
    reason = fault.message;
  };

  /** Every box observes, so that each of them can take over. */
  const observe = (): AlertRecord[] => {
    const time = { now: now(), monotonicNow: monotonicNow() };
    const [next, due] = reduce(outages, watch.conditions(outages), time, options.alertGraceSeconds * 1000);
    outages = next;
    return due;
  };

  const tick = async (): Promise<void> => {
    if (closing.signal.aborted) return;
    const due = observe();
    if (wasSpeaker) spokeAt = monotonicNow();
    // What could not be delivered is with a receiver now, or this box may reach one by now.
    if (!records().some(({ isSent }) => isSent === false) || monotonicNow() - spokeAt >= tempo.records.forgive) {
      failures = 0;
      reason = null;
    }
    const alive = peers.alive().map(({ nodeId, state }) => ({ nodeId, receiver: state.alerts?.receiver ?? 'none' }));
    const isSpeaker = speakerOf([{ nodeId: ids.nodeId, receiver: receiverState() }, ...alive]) === ids.nodeId;
    wasSpeaker = isSpeaker;
    const unasked = isSpeaker && alive.some(({ nodeId }) => !asked.has(nodeId));
    asked = new Set(isSpeaker ? alive.map(({ nodeId }) => nodeId) : []);
    if (unasked) {
      // What the others have said while this box did not send, or was cut off from them.
      const { answers } = await peers.broadcast('records.alerts');
      await learn(answers.flatMap((answer) => answer.records));
    } else if (isSpeaker && due.length > 0 && monotonicNow() >= retryAt) await deliverAll(due);
  };

  const run = singleFlight<void, void>(() =>
    tick().catch((error: unknown) => log.error({ err: error }, 'alerts could not be decided')),
  );

  return {
    /**
     * Delivers the alerts of the site to a further receiver. Called before the start. With a webhook an alert counts as sent
     * once that has it: this receiver keeps by itself what it could not deliver.
     */
    alertTo: (receiver: AlertReceiver): void => void receivers.push(receiver),
    /** Has something said that happened now, once, without a grace. */
    raise: (kind: Occasion, subject: string, message: string): void => {
      const known = readable(outages.records.get(keyOf({ kind, subject })));
      // What waits for a receiver is said with it.
      const waiting = known?.isSent === false ? known.message : '';
      if (waiting.includes(message)) return;
      const at = laterThan(known?.at, now());
      const text = `${waiting} ${message}`.trim().slice(0, MAX_MESSAGE);
      void tell({ kind, subject, isFailing: true, at, message: text, isSent: false });
    },
    /** Keeps quiet about this box and its displays for ten minutes, on all boxes: its version is being replaced. */
    beginUpdate: (): Promise<void> => {
      const at = new Date(now() + UPDATE_MS).toISOString();
      return tell({ kind: 'update', subject: ids.nodeId, isFailing: false, at, message: '', isSent: true });
    },
    routes: {
      'GET /api/peers/alerts': (ctx) => {
        ctx.body = { records: records() };
      },
      'POST /api/peers/alerts': async (ctx) => {
        await learn(readFields(peerAlerts, await readJson(ctx)).records);
        ctx.body = {};
      },
    } satisfies Routes,
    health: (): HealthReport => ({
      issues: { slides: watch.signedOut() },
      notes: reason === null ? [] : [`Alerts cannot be delivered: ${reason}.`],
    }),
    start: (): void => {
      watch.start();
      if (receivers.length === 0) return;
      void peers.settled().then(() => {
        if (!closing.signal.aborted) timer = setInterval(run, tempo.records.alerts).unref();
      });
    },
    close: async (): Promise<void> => {
      closing.abort();
      clearInterval(timer);
      watch.close();
      await run();
    },
  };
};
