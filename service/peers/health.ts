import type { PeerHealth } from '../contract/health.ts';
import { limitSentences } from '../domain/sentences.ts';

/** Boxes that are switched on together find each other within this time. */
const START_MS = 60_000;

/** The boxes that are away, for `/healthz`. @param uptimeMs since the start of this service */
export const peerIssues = (peers: readonly PeerHealth[], uptimeMs: number): string[] =>
  limitSentences(
    peers
      .filter(({ state }) => state === 'away' && uptimeMs >= START_MS)
      .map(({ url, reason }) => `The box at ${url} is away: it ${reason}.`),
    'boxes are away',
  );
