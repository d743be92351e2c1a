/**
 * A box that was off for longer than deletions are kept. Once a peer has told its list of media, what neither the content
 * nor a peer names is moved to `.lost` instead of being kept.
 */
import { z } from 'zod';
import type { PeerMedium } from '../contract/peers.ts';
import { type EpochMs, isTrusted, longestAbsenceMs, type MonotonicMs, type SiteTime } from '../domain/time.ts';
import type { Media } from '../media/index.ts';
import type { ServiceContext } from '../module.ts';
import { openDurable } from '../platform/store/durable.ts';

const NOTE_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Minimum time after a failure before files are moved again. */
const RETRY_MS = 600_000;

/** When the box was last noted to run; null: never. */
const schema = z.object({ at: z.number().nullable() });

export type Absence = Awaited<ReturnType<typeof openAbsence>>;

export const openAbsence = async (
  context: Pick<ServiceContext, 'dirs' | 'log' | 'logs' | 'now' | 'monotonicNow' | 'keep'>,
  { media, siteTime }: { media: Pick<Media, 'setAside'>; siteTime: SiteTime },
) => {
  const { logs, monotonicNow, keep } = context;
  const noted = keep(await openDurable(context, 'last-run.json', { schema, initial: { at: null } }));
  /** When the previous run was last noted; null: never, or its absence is over. */
  let leftAt: EpochMs | null = noted.read().at;
  let fault: string | null = null;
  let retryAt: MonotonicMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const note = async (): Promise<void> => {
    const at = siteTime.now();
    const before = noted.read().at ?? 0;
    const isNear = at >= before && at - before < NOTE_MS / 2;
    // The next start would believe in an absence, had this one a clock that is far behind.
    const isBehind = at < before && !siteTime.isConfirmed();
    // A write that fails is repeated with the next note; the store reports it.
    if (isTrusted(at) && !isNear && !isBehind) await noted.update(() => ({ at })).catch(() => undefined);
  };

  /** Whether this box was off too long, by a clock that is surely right. */
  const wasAway = (): boolean =>
    leftAt !== null && siteTime.isConfirmed() && siteTime.now() - leftAt > longestAbsenceMs;

  return {
    /** Whether the box has to adopt the list of its site; notes that it runs if not. */
    async isPending(): Promise<boolean> {
      if (wasAway()) return monotonicNow() >= retryAt;
      if (siteTime.isConfirmed()) leftAt = null;
      if (siteTime.isEstablished()) await note();
      return false;
    },

    /**
     * Moves the files that deletions may have covered to `.lost`, and ends it unless that fails.
     * @param unnamed files that the site does not have
     * @returns whether files were moved, so that the folders have to be read again
     */
    async end(unnamed: readonly PeerMedium[]): Promise<boolean> {
      const oldest = siteTime.now() - longestAbsenceMs;
      const files = unnamed.filter(({ modifiedAt }) => Date.parse(modifiedAt) <= oldest);
      retryAt = monotonicNow() + RETRY_MS;
      let moved = 0;
      try {
        for (const { name, sha256 } of files) if (await media.setAside(name, sha256)) moved += 1;
        fault = null;
      } catch (error) {
        fault = (error as Error).message;
        logs('media of peers').warn({ err: error }, 'media that the site does not have could not be moved to .lost');
        return false;
      }
      const days = Math.floor((siteTime.now() - (leftAt ?? 0)) / DAY_MS);
      const message = 'this box was away for longer than deletions are known, and takes the list of media of the site';
      logs('media of peers').warn({ days, moved }, message);
      retryAt = Number.NEGATIVE_INFINITY;
      // A file that lay under another one of its name is found by the next scan.
      if (moved > 0) return true;
      leftAt = null;
      await note();
      return false;
    },

    /** Sentences for `/healthz`. */
    issues: (): string[] =>
      fault === null
        ? []
        : [
            `This box was away for long, and media that the site does not have any more could not be moved to .lost (${fault}): free some space on its disk`,
          ],

    start: () => {
      timer = setInterval(() => {
        if (!wasAway()) void note();
      }, NOTE_MS).unref();
    },
    close: () => clearInterval(timer),
  };
};
