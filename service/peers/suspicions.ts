/** Peers that do not answer this box, until it is decided whether they are away. */
import { createRate } from '../domain/rate.ts';
import { isAway, type Suspicion } from './membership.ts';

interface Dependencies {
  /** Whether other boxes reach a box; null: they are too busy to know. */
  isReachedByOthers(nodeId: string): Promise<boolean | null>;
  /** Whether the site is too busy for questions. */
  isCongested(): boolean;
  /** ms, monotonic */
  monotonicNow(): number;
  /** Called once when a suspected peer counts as away. */
  onAway(nodeId: string): void;
}

export interface Suspicions {
  /** Handles that a peer did not answer: it is suspected from the first time on. */
  add(nodeId: string): void;
  /** Ends a suspicion; returns whether the peer was away. */
  clear(nodeId: string): boolean;
  /** Whether a peer is suspected, and does not count as away yet. */
  isPending(nodeId: string | null): boolean;
  /** The reason why a peer is away, including what other boxes report. */
  explain(nodeId: string | null, reason: string | null): string | null;
  /** Marks peers as away whose grace period has passed. */
  poll(): void;
}

/** Peers of which other boxes are asked within ten seconds: when all are late, questions must not add to the load. */
const MAX_ASKED = 3;
/** As many of those about which others were asked before. */
const MAX_ASKED_AGAIN = 1;
const ASKED_MS = 10_000;

export const createSuspicions = ({
  isReachedByOthers,
  isCongested,
  monotonicNow,
  onAway,
}: Dependencies): Suspicions => {
  const suspected = new Map<string, Suspicion & { isAway: boolean }>();
  const first = createRate(MAX_ASKED, ASKED_MS);
  const repeats = createRate(MAX_ASKED_AGAIN, ASKED_MS);

  const askOthers = (nodeId: string, suspicion: Suspicion, rate: typeof first): void => {
    if (isCongested() || !rate.take(monotonicNow())) return;
    void isReachedByOthers(nodeId).then((answer) => {
      suspicion.isReachedByOthers = answer;
      if (suspected.get(nodeId) === suspicion) decide(nodeId);
    });
  };

  const decide = (nodeId: string): void => {
    const suspicion = suspected.get(nodeId);
    if (suspicion === undefined || suspicion.isAway || !isAway(suspicion, monotonicNow())) return;
    suspicion.isAway = true;
    onAway(nodeId);
  };

  return {
    add: (nodeId) => {
      const known = suspected.get(nodeId);
      // What the others say may have changed, or they could not be asked.
      if (known?.isAway === true && known.isReachedByOthers !== false) askOthers(nodeId, known, repeats);
      if (known !== undefined) return;
      const suspicion = { since: monotonicNow(), isReachedByOthers: null as boolean | null, isAway: false };
      suspected.set(nodeId, suspicion);
      askOthers(nodeId, suspicion, first);
    },
    clear: (nodeId) => {
      const wasAway = suspected.get(nodeId)?.isAway === true;
      suspected.delete(nodeId);
      return wasAway;
    },
    isPending: (nodeId) => suspected.get(nodeId ?? '')?.isAway === false,
    explain: (nodeId, reason) =>
      suspected.get(nodeId ?? '')?.isReachedByOthers === true ? `${reason}, though other boxes reach it` : reason,
    poll: () => {
      for (const nodeId of suspected.keys()) decide(nodeId);
    },
  };
};
