import type { PeerHealth } from '../contract/health.ts';
import { mostPeers } from '../contract/peers.ts';
import type { Variant } from '../contract/terms.ts';
import { limitSentences } from '../domain/wording.ts';
import { withoutSecret } from './reply.ts';

/** Boxes that are switched on together find each other within this time. */
const START_MS = 60_000;

/** The boxes that are away, for `/healthz`. @param uptimeMs since the start of this service */
export const peerIssues = (peers: readonly PeerHealth[], uptimeMs: number): string[] =>
  limitSentences(
    peers
      .filter(({ state, reason }) => state === 'away' && uptimeMs >= START_MS && reason !== withoutSecret)
      .map(({ url, reason }) => `The box at ${url} is away: it ${reason}.`),
    'boxes are away',
  );

/** The boxes that have no secret yet, while this one has. */
const unprotected = (peers: readonly PeerHealth[]): string[] =>
  limitSentences(
    peers
      .filter(({ state, reason }) => state === 'away' && reason === withoutSecret)
      .map(({ url }) => `The box at ${url} is not protected yet: enter the secret of the site there.`),
    'boxes are not protected yet',
  );

interface Boxes {
  peers: readonly PeerHealth[];
  /** Since the start of this service. */
  uptimeMs: number;
  /** Addresses of boxes that are left out of answers. */
  overdue: readonly string[];
  /** Boxes that have the node id of another one. */
  clones: readonly { url: string; reason: string | null }[];
  /** Whether there are more boxes than a box can know. */
  isFull: boolean;
}

/** The sentences of `/healthz` about other boxes. */
export const boxIssues = ({ peers, uptimeMs, overdue, clones, isFull }: Boxes): string[] => [
  ...peerIssues(
    peers.filter(({ url }) => !clones.some((each) => each.url === url)),
    uptimeMs,
  ),
  ...unprotected(peers),
  ...limitSentences(
    overdue.map((url) => `The box at ${url} does not answer all requests: answers leave it out until it does.`),
    'boxes do not answer all requests',
  ),
  ...limitSentences(
    clones.map(({ url, reason }) => `The box at ${url} ${reason}.`),
    'boxes have the node id of another one',
  ),
  ...(isFull ? [`${mostPeers} other boxes are known, which is the limit: commands here reach no further ones.`] : []),
];

/** The remedies for boxes with records dated years ahead, for static peers of other sites, and for peers in the baseline variant. */
export const boxNotes = (
  misdated: readonly { nodeId: string; reason: string }[],
  external: readonly { url: string; reason: string }[],
  { variant, peers }: { variant: Variant; peers: readonly string[] },
): string[] => [
  ...limitSentences(
    misdated.map(({ nodeId, reason }) => `Of the box ${nodeId}, ${reason}.`),
    'kinds of records are dated years ahead',
  ),
  ...limitSentences(
    external.map(
      ({ url, reason }) =>
        `The box at ${url} is no peer: it ${reason}. Set SIGNAGE_SITE alike on both, or remove it from SIGNAGE_PEERS.`,
    ),
    'boxes are of other sites',
  ),
  ...(variant === 'baseline' && peers.length > 0
    ? ['SIGNAGE_PEERS has no effect: the baseline variant has no peers. Set SIGNAGE_VARIANT to extended, or remove it.']
    : []),
];

/** @param count of records that this version cannot read */
export const unreadNotes = (count: number): string[] =>
  count === 0
    ? []
    : [`Records of a newer version are kept and passed on, but not used here until this box is updated: ${count}.`];
