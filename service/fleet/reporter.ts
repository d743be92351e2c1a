/** Writes a value to a key of the status bucket: when it changes, and periodically. */
import { setTimeout as delay } from 'node:timers/promises';
import { keySubject, SITE_API, STATUS_BUCKET } from '../domain/fleet-subjects.ts';
import { createPause } from '../platform/pause.ts';
import type { FleetContext, Line } from './connection.ts';
import { type HubApi, openHubApi, refusalOf } from './hub.ts';
import type { Refusals } from './refusals.ts';

/** A write that the hub has taken: the sequence of the value there, and the monotonic clock before and after. */
interface Write {
  sequence: number;
  sent: number;
  received: number;
}

interface Report<Value> {
  key: string;
  /** Such as `the status of this box`. */
  what: string;
  refusals: Pick<Refusals, 'set'>;
  read(): Promise<Value>;
  /** The part of the value whose changes are written immediately. */
  changing(value: Value): unknown;
  /** Between writes of a value that has not changed, ms. */
  period: number;
  /** Called after each write that succeeds. */
  onWritten?(hub: HubApi, write: Write): Promise<void>;
  /** Called when a write succeeds after one that failed. */
  onRecovered?(): void;
}

/** Of the period. */
const JITTER = 0.2;

/** Whether the hub takes the value: `unknown`, or why it does not. */
type Acceptance = { state: 'unknown' } | { state: 'taken' } | { state: 'refused'; reason: string };

export const createReporter = <Value>(
  { monotonicNow, random, tempo, log }: FleetContext,
  { key, what, refusals, read, changing, period, onRecovered, onWritten }: Report<Value>,
) => {
  const { look } = tempo.fleet;
  let acceptance: Acceptance = { state: 'unknown' };
  const pause = createPause();

  const run = async ({ nats, ended }: Line): Promise<void> => {
    const hub = openHubApi(nats);
    const subject = `${SITE_API}.${keySubject(STATUS_BUCKET, key)}`;
    let written = '';
    let writeAt = 0;
    let hasFailed = false;
    while (!ended.aborted) {
      try {
        const value = await read();
        const seen = JSON.stringify(changing(value));
        if (seen !== written || monotonicNow() >= writeAt) {
          const sent = monotonicNow();
          const sequence = await hub.publish(subject, Buffer.from(JSON.stringify(value)));
          const received = monotonicNow();
          written = seen;
          writeAt = monotonicNow() + period * (1 - JITTER * random());
          acceptance = { state: 'taken' };
          refusals.set(what, null);
          if (hasFailed) onRecovered?.();
          hasFailed = false;
          await onWritten?.(hub, { sequence, sent, received });
        }
      } catch (error) {
        const reason = refusalOf(error);
        if (reason !== null && !ended.aborted) {
          if (acceptance.state !== 'refused') log.warn({ key, reason }, `the hub of the fleet does not take ${what}`);
          acceptance = { state: 'refused', reason };
          refusals.set(what, reason);
        }
        log.debug({ err: error, key }, 'the hub of the fleet did not take a status');
        written = '';
        hasFailed = true;
      }
      // A change does not shorten the delay after a refusal.
      if (hasFailed) await delay(look, undefined, { signal: ended, ref: false }).catch(() => undefined);
      else await pause.wait(look, ended);
    }
  };

  return {
    /** Writes for as long as the connection lasts. */
    onLine: (line: Line): void => {
      acceptance = { state: 'unknown' };
      run(line).catch((error: unknown) => log.error({ err: error, key }, 'the hub gets no further status'));
    },
    /** Checks for a change immediately. */
    wake: pause.wake,
    acceptance: (): Acceptance => acceptance,
  };
};
