/** Writes a value to a key of the status bucket: when it changes, and periodically. */
import { setTimeout as delay } from 'node:timers/promises';
import { STATUS_BUCKET } from '../domain/fleet-subjects.ts';
import { type Bucket, openBucket, Unprepared } from './bucket.ts';
import type { FleetContext, Line } from './connection.ts';
import { createPause } from './pause.ts';

interface Report<Value> {
  key: string;
  read(): Promise<Value>;
  /** The part of the value whose changes are written immediately. */
  changing(value: Value): unknown;
  /** Between writes of a value that has not changed, ms. */
  period: number;
  /** Replaces the plain write. */
  write?(bucket: Bucket, value: Uint8Array): Promise<void>;
  /** Called when a write succeeds after one that failed. */
  onRecovered?(): void;
}

/** Of the period. */
const JITTER = 0.2;

export const createReporter = <Value>(
  { monotonicNow, random, tempo, log }: FleetContext,
  { key, read, changing, period, onRecovered, write = (bucket, bytes) => bucket.put(key, bytes) }: Report<Value>,
) => {
  const { look } = tempo.fleet;
  let isPrepared: boolean | null = null;
  const pause = createPause();

  const run = async ({ nats, ended }: Line): Promise<void> => {
    const bucket = await openBucket(nats, STATUS_BUCKET);
    let written = '';
    let writeAt = 0;
    let hasFailed = false;
    while (!ended.aborted) {
      try {
        const value = await read();
        const seen = JSON.stringify(changing(value));
        if (seen !== written || monotonicNow() >= writeAt) {
          await write(bucket, Buffer.from(JSON.stringify(value)));
          written = seen;
          writeAt = monotonicNow() + period * (1 - JITTER * random());
          isPrepared = true;
          if (hasFailed) onRecovered?.();
          hasFailed = false;
        }
      } catch (error) {
        if (error instanceof Unprepared) isPrepared = false;
        else log.debug({ err: error, key }, 'the hub of the fleet did not take a status');
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
      run(line).catch((error: unknown) => log.error({ err: error, key }, 'the hub gets no further status'));
    },
    /** Checks for a change immediately. */
    wake: pause.wake,
    /** Whether the hub has the bucket; null: not known yet. */
    isPrepared: (): boolean | null => isPrepared,
  };
};
