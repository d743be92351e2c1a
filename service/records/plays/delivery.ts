/** Delivers plays to a receiver, at least once, in batches, from a position that is durable. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Play } from '../../contract/plays.ts';
import { jsonOf } from '../../domain/json.ts';
import type { ServiceContext } from '../../module.ts';
import { codeOf } from '../../platform/store/disk.ts';
import { pauseAfter } from '../webhook.ts';
import { type Part, type Parts, readLines } from './parts.ts';
import { createSent } from './sent.ts';

/** What a receiver has taken of records. */
export interface Taken {
  /** How many of them, from the first one on, it has now or never takes. */
  count: number;
  /** The id of the last one of these that it has now; null: it has none. */
  last: string | null;
}

/** Somewhere that the plays of this box are delivered to. */
export interface PlaysReceiver {
  /** Unique; what was delivered is remembered under it. */
  key: string;
  /**
   * Delivers at most 500 plays. After a failure the same ones come again, and after a restart perhaps, in another batch;
   * where it takes only some, the others come again.
   * @throws Error whose message is a clause: "the receiver answers 500"
   */
  deliver(plays: readonly Play[], signal: AbortSignal): Promise<Taken>;
  /** For a receiver that keeps plays, and can lose them. */
  keeper?: {
    /** Resolves when the receiver can be asked. @throws the reason of the signal */
    ready(signal: AbortSignal): Promise<void>;
    /** The id of the newest play of this box that the receiver has; null: it has none. */
    newest(): Promise<string | null>;
  };
}

const MAX_BATCH = 500;
const MAX_BYTES = 2 * 1024 ** 2;

interface Batch {
  part: Part;
  plays: Play[];
  /** Where each play ends in the part. */
  ends: number[];
  /** Where in the part the next batch begins. */
  end: number;
}

/** @returns null: the line is not a play */
const parsePlay = (line: string): Play | null => {
  const play = jsonOf(line);
  return typeof play === 'object' ? (play as Play) : null;
};

export type Delivery = ReturnType<typeof createDelivery>;

export const createDelivery = (
  { log, random, tempo, monotonicNow }: Pick<ServiceContext, 'log' | 'random' | 'tempo' | 'monotonicNow'>,
  { parts, receiver }: { parts: Parts; receiver: PlaysReceiver },
) => {
  const { key, keeper } = receiver;
  const sent = createSent({ tempo, monotonicNow }, parts, key);
  const closing = new AbortController();
  const { signal } = closing;
  let wakeUp = (): void => undefined;
  let isWoken = false;
  let reason: string | null = null;
  let running: Promise<void> | undefined;
  /** Changes with each doubt; equal: what the receiver has is known. */
  let [doubt, known] = [0, keeper === undefined ? 0 : -1];

  /** @returns whether plays are sent again, from earlier ones on */
  const verify = async (): Promise<boolean> => {
    if (keeper === undefined || known === doubt) return false;
    const asked = doubt;
    const newest = await keeper.newest();
    const count = await sent.rewind(newest);
    known = asked;
    if (count === 0) return false;
    log.warn({ receiver: key, newest, parts: count }, 'the receiver has lost plays; they are delivered again');
    await parts.save().catch(() => undefined);
    return true;
  };

  /** Notes why plays are not delivered, and waits. @throws the reason of the signal */
  const pause = async (error: unknown, failures: number): Promise<void> => {
    signal.throwIfAborted();
    const { message } = error as Error;
    if (reason === null) log.warn({ receiver: key, reason: message }, 'plays could not be delivered');
    reason = message;
    await delay(pauseAfter(tempo.records, failures, random()), undefined, { signal, ref: false });
  };

  const nextBatch = async (): Promise<Batch | null> => {
    for (const part of parts.list()) {
      const start = part.delivered[key] ?? 0;
      if (start >= part.bytes) continue;
      const batch: Batch = { part, plays: [], ends: [], end: start };
      let bytes = 0;
      for await (const lines of readLines(parts.pathOf(part), start, part.bytes)) {
        for (const { text, offset, length } of lines) {
          if (batch.plays.length === MAX_BATCH || (bytes > 0 && bytes + length > MAX_BYTES)) return batch;
          const play = parsePlay(text);
          bytes += length;
          batch.end = offset + length + 1;
          if (play === null) continue;
          batch.plays.push(play);
          batch.ends.push(batch.end);
        }
      }
      if (batch.end > start) return batch;
    }
    return null;
  };

  /** Sends a batch until the receiver takes some of it, or has lost earlier ones. */
  const deliver = async ({ part, plays, ends, end }: Batch): Promise<void> => {
    let taken: Taken = { count: 0, last: null };
    for (let failures = 0; plays.length > 0; ) {
      try {
        await keeper?.ready(signal);
        if (await verify()) return;
        taken = await receiver.deliver(plays, signal);
        break;
      } catch (error) {
        failures += 1;
        doubt += 1;
        await pause(error, failures);
      }
    }
    const isWhole = taken.count === plays.length;
    if (isWhole) {
      if (reason !== null) log.info({ receiver: key, plays: plays.length }, 'plays are delivered again');
      reason = null;
    } else {
      doubt += 1;
    }
    part.delivered[key] = isWhole ? end : (ends[taken.count - 1] ?? 0);
    sent.note(part, plays, taken.last);
    // Where this is not saved, the batch is sent again after a restart.
    await parts.save().catch(() => undefined);
  };

  const run = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      isWoken = false;
      let batch: Batch | null;
      try {
        await parts.ready();
        // Where the receiver cannot be asked, it is asked before the next batch.
        await verify().catch(() => undefined);
        batch = await nextBatch();
        failures = 0;
      } catch (error) {
        failures += 1;
        await pause(new Error(`those that are kept cannot be read (${codeOf(error) ?? error})`), failures);
        continue;
      }
      if (batch !== null) {
        await deliver(batch);
        continue;
      }
      reason = null;
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          wakeUp = resolve;
        });
        if (!signal.aborted) await delay(tempo.records.gather, undefined, { signal, ref: false });
      }
    }
  };

  const wake = (): void => {
    isWoken = true;
    wakeUp();
  };

  return {
    /** Notifies about new plays. */
    wake,
    /** Asks the receiver what it has before anything is sent; what it has lost is sent again. */
    recheck: (): void => {
      doubt += 1;
      wake();
    },
    start: (): void => {
      running = run().catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, 'the delivery of plays has ended');
      });
    },
    /** A sentence about a receiver that does not take them. */
    notes: (): string[] => (reason === null ? [] : [`Plays cannot be delivered: ${reason}.`]),
    close: async (): Promise<void> => {
      closing.abort();
      wake();
      await running;
    },
  };
};
