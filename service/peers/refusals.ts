/** Content of peers that was refused: reported, not fetched again, and with pauses for a peer that goes on with it. */

import { remember } from '../domain/collections.ts';
import { doubled } from '../domain/time.ts';
import type { SourceLogs } from '../platform/source-log.ts';

interface Refused {
  nodeId: string;
  reason: string;
  /** The offered content itself is invalid, and is not fetched again. */
  permanent: boolean;
}

/** Refusals that are remembered. */
const MAX_REFUSED = 32;
/** Pause after a peer has offered unusable content again: reading 50 MB takes a second. */
const MIN_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;
/** After this time without a refusal the next one is the first again. */
const FORGIVE_MS = 600_000;

export const createRefusals = (logs: SourceLogs) => {
  /** Keyed by node id and content hash. */
  const refused = new Map<string, Refused>();
  /** By node id: refusals in a row, and until when nothing is fetched from it (monotonic, ms). */
  const pauses = new Map<string, { refusals: number; until: number }>();

  const isPaused = (nodeId: string): boolean => performance.now() < (pauses.get(nodeId)?.until ?? 0);

  return {
    /** @param permanent whether the content itself is invalid; else it is tried again */
    add: (nodeId: string, sha256: string, reason: string, permanent = true): void => {
      const key = `${nodeId} ${sha256}`;
      if (refused.get(key)?.reason === reason) return;
      remember(refused, key, { nodeId, reason, permanent }, MAX_REFUSED);
      logs(`peer ${nodeId}`).warn({ nodeId, reason }, 'the content that a peer offers was refused');
      if (!permanent) return;
      const { refusals: before, until } = pauses.get(nodeId) ?? { refusals: 0, until: 0 };
      const refusals = performance.now() > until + FORGIVE_MS ? 1 : before + 1;
      // The first one is corrected by the operator's next edit, which need not wait.
      const ms = refusals === 1 ? 0 : doubled(refusals - 2, MIN_PAUSE_MS, MAX_PAUSE_MS);
      remember(pauses, nodeId, { refusals, until: performance.now() + ms }, MAX_REFUSED);
    },
    /** Valid content was accepted: the peers that offered its predecessors need no pauses any more. */
    accepted: (): void => pauses.clear(),
    /** Whether this content is not to be fetched from the peer now. */
    covers: (nodeId: string, sha256: string): boolean =>
      isPaused(nodeId) || refused.get(`${nodeId} ${sha256}`)?.permanent === true,
    /** Forgets the refusals of content that the peer no longer offers. */
    keepOnly: (nodeId: string, sha256: string | undefined): void => {
      if (isPaused(nodeId)) return;
      for (const [key, each] of refused) {
        if (each.nodeId === nodeId && key !== `${nodeId} ${sha256}`) refused.delete(key);
      }
    },
    list: (): Pick<Refused, 'nodeId' | 'reason'>[] =>
      [...refused.values()].map(({ nodeId, reason }) => ({ nodeId, reason })),
  };
};
