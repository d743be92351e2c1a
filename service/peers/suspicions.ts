/** Peers that do not answer this box, until it is decided whether they are away. */
import { createRate } from '../domain/rate.ts';
import type { MonotonicMs } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';

interface Suspicion {
  since: MonotonicMs;
  /** Whether another box reaches it; null: not reported yet. */
  isReachedByOthers: boolean | null;
  isAway: boolean;
}

interface Site {
  isReachedByOthers(nodeId: string): Promise<boolean | null>;
  /** Whether the site is too busy for questions. */
  isCongested(): boolean;
  /** Called once when a suspected peer counts as away. */
  onAway(nodeId: string): void;
}

/** Peers of which other boxes are asked within `asked`: when all are late, questions must not add to the load. */
const MAX_ASKED = 3;
/** As many of those about which others were asked before. */
const MAX_ASKED_AGAIN = 1;

export const createSuspicions = (
  { monotonicNow, tempo: { peers: tempo } }: Pick<ServiceContext, 'monotonicNow' | 'tempo'>,
  { isReachedByOthers, isCongested, onAway }: Site,
) => {
  const suspected = new Map<string, Suspicion>();
  const first = createRate(MAX_ASKED, tempo.asked);
  const repeats = createRate(MAX_ASKED_AGAIN, tempo.asked);

  const askOthers = (nodeId: string, suspicion: Suspicion, rate: typeof first): void => {
    if (isCongested() || !rate.take(monotonicNow())) return;
    void isReachedByOthers(nodeId).then((answer) => {
      suspicion.isReachedByOthers = answer;
      if (suspected.get(nodeId) === suspicion) decide(nodeId);
    });
  };

  const decide = (nodeId: string): void => {
    const suspicion = suspected.get(nodeId);
    if (suspicion === undefined || suspicion.isAway) return;
    // A box that others reach may be unreachable from here for a while.
    if (suspicion.isReachedByOthers !== false && monotonicNow() - suspicion.since < tempo.patience) return;
    suspicion.isAway = true;
    onAway(nodeId);
  };

  return {
    /** Handles that a peer did not answer: it is suspected from the first time on. */
    add: (nodeId: string): void => {
      const known = suspected.get(nodeId);
      // What the others say may have changed, or they could not be asked.
      if (known?.isAway === true && known.isReachedByOthers !== false) askOthers(nodeId, known, repeats);
      if (known !== undefined) return;
      const suspicion: Suspicion = { since: monotonicNow(), isReachedByOthers: null, isAway: false };
      suspected.set(nodeId, suspicion);
      askOthers(nodeId, suspicion, first);
    },
    /** Ends a suspicion; returns whether the peer was away. */
    clear: (nodeId: string): boolean => {
      const wasAway = suspected.get(nodeId)?.isAway === true;
      suspected.delete(nodeId);
      return wasAway;
    },
    /** Whether a peer is suspected, and does not count as away yet. */
    isPending: (nodeId: string | null): boolean => suspected.get(nodeId ?? '')?.isAway === false,
    /** The reason why a peer is away, including what other boxes report. */
    explain: (nodeId: string | null, reason: string | null): string | null =>
      reason !== null && suspected.get(nodeId ?? '')?.isReachedByOthers === true
        ? `${reason}, though other boxes reach it`
        : reason,
    /** Marks peers as away whose grace period has passed. */
    poll: (): void => {
      for (const nodeId of suspected.keys()) decide(nodeId);
    },
  };
};
