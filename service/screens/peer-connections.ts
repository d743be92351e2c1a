/** The connections of screens on all peers: one request per peer for any number of screens. */
import type { PeerConnections } from '../contract/peers.ts';
import { remember } from '../domain/recent.ts';
import type { Peer, Peers } from '../peers/index.ts';

type Connections = PeerConnections['screens'][number]['connections'];

/** The connections of one screen on all peers. */
export interface ScreenConnections {
  connections: Connections;
  /** Whether a known peer did not answer in time. */
  degraded: boolean;
}

/** Requests the connections of screens from all peers; returns them by slug; never rejects. */
export type AskForConnections = (slugs: readonly string[]) => Promise<ReadonlyMap<string, ScreenConnections>>;

/** One peer's answer by slug; null without an answer in time. Screens that it lacks, or without connections, are absent. */
type PeerAnswer = ReadonlyMap<string, Connections | null>;

/** How long an answer of an older peer is reused while its other screens are requested, ms. */
const REUSE_MS = 5_000;
const MAX_PEERS = 256;
const MAX_SCREENS = 1_000;

/** A peer without the operation for several screens. */
interface OlderPeer {
  /** The instance that lacked it; after a restart the peer may run a newer version. */
  instance: string | undefined;
  /** By slug, least recently requested first. */
  answers: Map<string, { connections: Connections | null; at: number }>;
}

export const createAskForConnections = (peers: Pick<Peers, 'all' | 'ask' | 'settled'>): AskForConnections => {
  const older = new Map<string, OlderPeer>();

  /** Requests one screen, the least recently requested one; recent answers are reused for the others. */
  const askOlder = async (peer: Peer, known: OlderPeer, slugs: readonly string[]): Promise<PeerAnswer> => {
    const { answers } = known;
    const askedAt = (slug: string): number => answers.get(slug)?.at ?? Number.NEGATIVE_INFINITY;
    const [slug = ''] = slugs.toSorted((a, b) => askedAt(a) - askedAt(b));
    const answer = await peers.ask(peer, 'screens.connectionsOfOne', slug);
    const isMissing = !answer.ok && answer.code === 'screen_not_found';
    const connections = answer.ok ? answer.body.connections : isMissing ? [] : null;
    answers.delete(slug);
    remember(answers, slug, { connections, at: performance.now() }, MAX_SCREENS);
    const earliest = performance.now() - REUSE_MS;
    return new Map(
      slugs.map((each) => [each, askedAt(each) < earliest ? null : (answers.get(each)?.connections ?? null)]),
    );
  };

  /** Sends one request; two if the peer turns out to be an older one. */
  const askPeer = async (peer: Peer, slugs: readonly string[]): Promise<PeerAnswer> => {
    const key = peer.nodeId ?? peer.url;
    const known = older.get(key);
    if (known !== undefined && known.instance === peer.state?.instance) return askOlder(peer, known, slugs);
    const answer = await peers.ask(peer, 'screens.connections', slugs);
    if (answer.ok) return new Map(answer.body.screens.map(({ slug, connections }) => [slug, connections]));
    if (answer.code !== 'not_found') return new Map(slugs.map((slug) => [slug, null]));
    const found: OlderPeer = { instance: peer.state?.instance, answers: new Map() };
    remember(older, key, found, MAX_PEERS);
    return askOlder(peer, found, slugs);
  };

  return async (slugs) => {
    await peers.settled();
    const answers = await Promise.all(peers.all().map((peer) => askPeer(peer, slugs)));
    return new Map(
      slugs.map((slug) => [
        slug,
        {
          connections: answers.flatMap((answer) => answer.get(slug) ?? []),
          degraded: answers.some((answer) => answer.get(slug) === null),
        },
      ]),
    );
  };
};
