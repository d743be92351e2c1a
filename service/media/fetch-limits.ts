/** When, and how fast, media are fetched from other hosts and boxes. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createEmitter } from '../domain/emitter.ts';
import { openSpans } from '../domain/opening-hours.ts';
import { createByteRate } from '../domain/rate.ts';
import { limitSentences } from '../domain/wording.ts';
import type { Options } from '../platform/options/index.ts';
import { FetchFault } from '../platform/outbound/answer.ts';
import type { MediaContext } from './context.ts';

/** The hours forbid the fetch for now; an attempt in them may succeed. */
export class FetchHeld extends FetchFault {}

/** A body that is read within the byte rate. */
export interface LimitedBody {
  stream: Readable;
  /** Whether the rate, and not the sender, delays the next bytes. */
  isHeld(): boolean;
}

export type FetchLimits = ReturnType<typeof createFetchLimits>;

type Hours = Options['fetchHours'];

/** ms until daily hours in local time begin; 0 within them. @param hours null: always */
export const untilOpen = (hours: Hours, now: number, timeZone: string): number => {
  if (hours === null) return 0;
  const spans = openSpans([hours], now, timeZone, 2).filter(({ end }) => end > now);
  return Math.max(0, Math.min(...spans.map(({ start }) => start)) - now);
};

/** One sentence per medium that a screen needs and that has to wait, for `/healthz`. @param reason null: none has to */
export const heldIssues = (names: readonly string[], reason: string | null): string[] =>
  reason === null
    ? []
    : limitSentences(
        names.map((name) => `A screen needs ${name}, which ${reason}.`),
        'media have to wait',
      );

interface Context extends Pick<MediaContext, 'now' | 'tempo'> {
  options: Pick<Options, 'fetchBytesPerSecond' | 'fetchHours' | 'timeZone'>;
}

export const createFetchLimits = ({ options, now, tempo }: Context) => {
  const { fetchBytesPerSecond: bytesPerSecond, fetchHours: hours } = options;
  const rate = createByteRate(bytesPerSecond);
  const reason = hours && `is fetched between ${hours.open} and ${hours.close} only (SIGNAGE_FETCH_HOURS)`;
  const openings = createEmitter();
  let session: AbortController | null = null;
  let isOpen = true;
  let timer: NodeJS.Timeout | undefined;

  const heldFor = (): number => (hours === null ? 0 : untilOpen(hours, now(), options.timeZone));
  const held = (pause: number): FetchHeld => new FetchHeld(`it ${reason}`, { pause });

  const poll = (): void => {
    const pause = heldFor();
    const opens = pause === 0 && !isOpen;
    isOpen = pause === 0;
    if (opens) openings.emit();
    if (isOpen) return;
    session?.abort(held(pause));
    session = null;
  };

  return {
    /** Why a medium is not fetched now, completing "it ..."; null: it is. */
    heldReason: (): string | null => (heldFor() === 0 ? null : reason),
    /** Whether there is any limit. */
    isLimited: bytesPerSecond > 0 || hours !== null,
    /** Calls `listener` when the hours begin. */
    onOpen: openings.on,
    /** @param signal ends the reading */
    limit: (body: Readable, signal: AbortSignal): LimitedBody => {
      if (bytesPerSecond === 0) return { stream: body, isHeld: () => false };
      let isHeld = false;
      const read = async function* () {
        for await (const chunk of body as AsyncIterable<Buffer>) {
          yield chunk;
          isHeld = true;
          await delay(rate.take(chunk.length, performance.now()), undefined, { signal, ref: false });
          isHeld = false;
        }
      };
      return { stream: Readable.from(read(), { objectMode: false }), isHeld: () => isHeld };
    },
    /**
     * A signal that aborts when the hours are over.
     * @throws FetchHeld outside the hours
     */
    enter: (): AbortSignal => {
      const pause = heldFor();
      if (pause > 0) throw held(pause);
      session ??= new AbortController();
      return session.signal;
    },
    start: (): void => {
      // They are polled, because the site's clock may be set.
      if (hours === null) return;
      poll();
      timer = setInterval(poll, tempo.media.hours).unref();
    },
    close: (): void => clearInterval(timer),
  };
};
