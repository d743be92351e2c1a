import type { PeerHealth } from '../contract/health.ts';
import { mostPeers } from '../contract/peers.ts';
import type { Variant } from '../contract/terms.ts';
import { limitSentences } from '../domain/wording.ts';

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

/** The boxes that are left out of answers, for `/healthz`. */
export const overdueIssues = (urls: readonly string[]): string[] =>
  limitSentences(
    urls.map((url) => `The box at ${url} does not answer all requests: answers leave it out until it does.`),
    'boxes do not answer all requests',
  );

/** The boxes that have the node id of another one, for `/healthz`. */
export const cloneIssues = (boxes: readonly { url: string; reason: string | null }[]): string[] =>
  limitSentences(
    boxes.map(({ url, reason }) => `The box at ${url} ${reason}.`),
    'boxes have the node id of another one',
  );

/** The remedy for static peers that are boxes of other sites, for `/healthz`. */
export const externalNotes = (boxes: readonly { url: string; reason: string }[]): string[] =>
  limitSentences(
    boxes.map(
      ({ url, reason }) =>
        `The box at ${url} is no peer: it ${reason}. Set SIGNAGE_SITE alike on both, or remove it from SIGNAGE_PEERS.`,
    ),
    'boxes are of other sites',
  );

/** The remedy for boxes whose records are dated years ahead, for `/healthz`. */
export const misdatedNotes = (boxes: readonly { nodeId: string; reason: string }[]): string[] =>
  limitSentences(
    boxes.map(({ nodeId, reason }) => `Of the box ${nodeId}, ${reason}.`),
    'kinds of records are dated years ahead',
  );

/** The remedy for peers that are configured in the baseline variant, for `/healthz`. */
export const baselineNotes = ({ variant, peers }: { variant: Variant; peers: readonly string[] }): string[] =>
  variant === 'baseline' && peers.length > 0
    ? ['SIGNAGE_PEERS has no effect: the baseline variant has no peers. Set SIGNAGE_VARIANT to extended, or remove it.']
    : [];

/**
 * The sentences of `/healthz` about limits that are reached.
 * @param isFull whether there are more boxes than a box can know
 */
export const limitIssues = (isFull: boolean): string[] =>
  isFull ? [`${mostPeers} other boxes are known, which is the limit: commands here reach no further ones.`] : [];
