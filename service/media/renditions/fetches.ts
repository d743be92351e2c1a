/** Fetches renditions that other boxes have made. */
import type { PeerRendition } from '../../contract/peers.ts';
import { doubled, type MonotonicMs } from '../../domain/time.ts';
import type { ServiceContext } from '../../module.ts';
import type { MediaContext } from '../context.ts';
import { isOutOfSpace } from '../download.ts';
import type { Downloads } from '../downloads.ts';
import { FetchHeld } from '../fetch-limits.ts';
import type { Profile } from './profile.ts';
import { reasons } from './reasons.ts';
import type { RenditionStore } from './store.ts';

/** The answer of a box that has an original. */
export type Holder = PeerRendition & { nodeId: string /** The URL of the rendition. */; from: string };

interface Job {
  /** SHA-256 of the original. */
  sha256: string;
  /** Null: that of the rendition. */
  profile: Profile | null;
}

interface Dependencies {
  store: Pick<RenditionStore, 'put'>;
  downloads: Pick<Downloads, 'fetch'>;
  /** Aborted when the box stops. */
  signal: AbortSignal;
  /** Called when one has arrived. */
  onFetched(): void;
}

/** Failures in a row after which people are told. */
const MIN_FAILURES = 2;

type Context = Pick<MediaContext, 'log' | 'tempo'> & Pick<ServiceContext, 'monotonicNow'>;

export const createFetches = (
  { log, tempo, monotonicNow }: Context,
  { store, downloads, signal, onFetched }: Dependencies,
) => {
  /** By the hash of the original. */
  const running = new Map<string, { bytes: number; done: Promise<void> }>();
  const failed = new Map<string, { failures: number; reason: string; retryAt: MonotonicMs }>();

  const fetchOne = async ({ sha256, profile }: Job, holders: readonly Holder[]): Promise<void> => {
    let reason = '';
    for (const { rendition, from } of holders) {
      if (rendition === null) continue;
      const job = {
        url: from,
        key: `rendition\n${rendition.sha256}`,
        sha256: rendition.sha256,
        size: rendition.size,
        // It may be larger than its original, and so than any upload; the quota bounds it.
        limit: rendition.size,
      };
      try {
        await downloads.fetch(job, async (_, part) => {
          await store.put(sha256, part.path, { ...rendition, profile: profile ?? rendition.profile });
          await part.discard();
        });
        failed.delete(sha256);
        onFetched();
        return;
      } catch (error) {
        if (signal.aborted || error instanceof FetchHeld) return;
        const { message, cause } = error as Error;
        const isFull = [error, cause].some(isOutOfSpace);
        reason = isFull ? reasons.room : reasons.fetch(message.replace(/\.$/, ''));
        log.warn({ from, reason: message }, 'a rendition could not be fetched from a peer');
      }
    }
    const failures = (failed.get(sha256)?.failures ?? 0) + 1;
    const pause = doubled(failures - 1, tempo.peers.transfer, tempo.peers.maxTransfer);
    failed.set(sha256, { failures, reason, retryAt: monotonicNow() + pause });
  };

  return {
    /** The failures by the hash of the original. */
    failed,
    has: (sha256: string): boolean => running.has(sha256),
    /** Why one cannot be fetched now: a sentence; null: it can, or has failed once. */
    faultOf(sha256: string): string | null {
      const { failures = 0, reason = '' } = failed.get(sha256) ?? {};
      return failures < MIN_FAILURES ? null : reason;
    },
    /** Whether a fetch has failed so recently that it is not repeated yet. */
    isPaused: (sha256: string): boolean => (failed.get(sha256)?.retryAt ?? 0) > monotonicNow(),
    /** The bytes of all that are being fetched. */
    bytes: (): number => [...running.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    start(job: Job, holders: readonly Holder[], bytes: number): void {
      if (signal.aborted || running.has(job.sha256)) return;
      const done = fetchOne(job, holders)
        .catch((err: unknown) => log.warn({ err }, 'a rendition could not be stored'))
        .finally(() => running.delete(job.sha256));
      running.set(job.sha256, { bytes, done });
    },
    /** Resolves once nothing is being fetched. */
    idle: async (): Promise<void> => {
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
};
