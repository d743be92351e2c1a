/** Delivers plays to the receiver of the operator, at least once, in batches. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { pauseAfter, type SendWebhook } from '../webhook.ts';
import { readLines } from './lines.ts';
import type { Part, Parts } from './parts.ts';

interface Dependencies {
  parts: Parts;
  send: SendWebhook;
  log: Pick<Logger, 'info' | 'warn'>;
  /** Of [0, 1). */
  random?: () => number;
}

const MAX_BATCH = 500;
const MAX_BYTES = 2 * 1024 ** 2;
/** Plays that end at about the same time share a batch. */
const GATHER_MS = 500;

interface Batch {
  part: Part;
  lines: string[];
  /** Where in the part the next batch begins. */
  end: number;
}

const isPlay = (line: string): boolean => {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
};

export interface Delivery {
  /** Says that there are new plays. */
  wake(): void;
  start(): void;
  /** A sentence about a receiver that does not take them. */
  notes(): string[];
  close(): Promise<void>;
}

export const createDelivery = ({ parts, send, log, random = Math.random }: Dependencies): Delivery => {
  const closing = new AbortController();
  const { signal } = closing;
  let wakeUp = (): void => undefined;
  let isWoken = false;
  let reason: string | null = null;
  let running: Promise<void> | undefined;

  const nextBatch = async (): Promise<Batch | null> => {
    for (const part of parts.list()) {
      if (part.delivered >= part.bytes) continue;
      const batch: Batch = { part, lines: [], end: part.delivered };
      let bytes = 0;
      for await (const lines of readLines(parts.pathOf(part), part.delivered, part.bytes)) {
        for (const { text, offset, length } of lines) {
          if (batch.lines.length === MAX_BATCH || (bytes > 0 && bytes + length > MAX_BYTES)) return batch;
          if (isPlay(text)) batch.lines.push(text);
          bytes += length;
          batch.end = offset + length + 1;
        }
      }
      if (batch.end > part.delivered) return batch;
    }
    return null;
  };

  /** Sends a batch until the receiver takes it. */
  const deliver = async ({ part, lines, end }: Batch): Promise<void> => {
    const body = `[${lines.join(',')}]`;
    const id = `plays_${createHash('sha256').update(body).digest('hex').slice(0, 32)}`;
    for (let failures = 0; lines.length > 0; ) {
      try {
        await send({ id, body }, signal);
        break;
      } catch (error) {
        signal.throwIfAborted();
        failures += 1;
        if (reason === null) log.warn({ reason: (error as Error).message }, 'plays could not be delivered');
        reason = (error as Error).message;
        await delay(pauseAfter(failures, random()), undefined, { signal, ref: false });
      }
    }
    if (reason !== null) log.info({ plays: lines.length }, 'plays are delivered again');
    reason = null;
    part.delivered = end;
    // Where this is not saved, the batch is sent again after a restart.
    await parts.save().catch(() => undefined);
  };

  const run = async (): Promise<void> => {
    await parts.ready;
    while (!signal.aborted) {
      isWoken = false;
      const batch = await nextBatch();
      if (batch !== null) await deliver(batch);
      else if (!isWoken) {
        await new Promise<void>((resolve) => {
          wakeUp = resolve;
        });
        if (!signal.aborted) await delay(GATHER_MS, undefined, { signal, ref: false });
      }
    }
  };

  const wake = (): void => {
    isWoken = true;
    wakeUp();
  };

  return {
    wake,
    start: () => {
      running = run().catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, 'the delivery of plays has ended');
      });
    },
    notes: () => (reason === null ? [] : [`Plays can not be delivered: the receiver ${reason}.`]),
    close: async () => {
      closing.abort();
      wake();
      await running;
    },
  };
};
