/**
 * Sends records to the hub, each with an id by which the hub drops repeats. They are queued while the hub is
 * unreachable.
 */
import { jetstream } from '@nats-io/jetstream';
import { type Upward, upwardSubject } from '../domain/fleet-subjects.ts';
import { refuse, Unprepared } from './bucket.ts';
import type { FleetContext, Line } from './connection.ts';
import { createPause } from './pause.ts';

interface UpwardRecord {
  /** Becomes `Nats-Msg-Id`. */
  id: string;
  body: unknown;
}

/** Records in flight. */
const AT_ONCE = 50;

/** @param line the connection; null: the hub is unreachable */
export const createUpward = ({ site, random, tempo, log }: FleetContext, line: () => Line | null) => {
  const pause = createPause();
  /** @throws the error of NATS, Unprepared if there is no stream */
  const publish = async ({ nats }: Line, kind: Upward, { id, body }: UpwardRecord): Promise<void> => {
    const bytes = Buffer.from(JSON.stringify(body));
    await jetstream(nats).publish(upwardSubject(site, kind), bytes, { msgID: id }).catch(refuse);
  };

  /** Resolves when the hub has all of the records. @throws the reason of the signal */
  const send = async (kind: Upward, records: readonly UpwardRecord[], signal: AbortSignal): Promise<void> => {
    const waiting = [...records];
    while (waiting.length > 0) {
      const current = line();
      try {
        if (current === null) throw new Error('the hub is away');
        const batch = waiting.slice(0, AT_ONCE);
        await Promise.all(batch.map((record) => publish(current, kind, record)));
        waiting.splice(0, batch.length);
      } catch (error) {
        signal.throwIfAborted();
        log.debug({ err: error, kind }, 'the hub does not take records; they wait');
        await pause.wait(tempo.fleet.retry * (0.2 + random()), signal);
        signal.throwIfAborted();
      }
    }
  };

  /** Sends a record once. @throws Error whose message is a clause: "the hub of the fleet is away" */
  const sendOnce = async (kind: Upward, record: UpwardRecord): Promise<void> => {
    const current = line();
    if (current === null) throw new Error('the hub of the fleet is away');
    await publish(current, kind, record).catch((error: unknown) => {
      const why = error instanceof Unprepared ? 'has no stream for it' : 'does not answer';
      throw new Error(`the hub of the fleet ${why}`, { cause: error });
    });
  };

  return {
    send,
    sendOnce,
    /** Sends the queued records. */
    onLine: pause.wake,
  };
};
