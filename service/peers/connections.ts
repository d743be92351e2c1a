/** The connections of screens on all peers: one request a peer, whatever the number of screens. */
import { z } from 'zod';
import { connection } from '../contract/connections.ts';
import { mostQueryCharacters, type PeerConnections, peerConnections, relayHeader } from '../contract/peers.ts';
import { remember } from '../domain/recent.ts';
import type { Peer, Peers } from './registry.ts';

type Connections = PeerConnections['screens'][number]['connections'];

/** What the peers know of one screen. */
export interface ScreenConnections {
  connections: Connections;
  /** True where a known peer did not answer in time. */
  degraded: boolean;
}

/** Asks all peers for the connections of screens, by slug; never rejects. */
export type AskForConnections = (slugs: readonly string[]) => Promise<ReadonlyMap<string, ScreenConnections>>;

/** One peer's answer, by slug; null: none in time. A screen that it does not have, or nobody shows, is left out. */
type PeerAnswer = ReadonlyMap<string, Connections | null>;

/** A snapshot is as large as the crowd. */
const MOST_BYTES = 16 * 1024 ** 2;

/** How long an answer of an older peer stands in while other screens are asked for, ms. */
const STAND_IN_MS = 5_000;
const MOST_PEERS = 256;
const MOST_SCREENS = 1_000;

/** A peer without the operation for several screens. */
interface OlderPeer {
  /** The start of the program that lacked it: the next one may be newer. */
  instance: string | undefined;
  /** By slug, the least recently asked first. */
  answers: Map<string, { connections: Connections | null; at: number }>;
}

const snapshotAnswer = z.object({ connections: z.array(connection) });

/** The path that asks for these screens; for all, where their names are too many for a URL. */
const pathFor = (slugs: readonly string[]): string => {
  const screens = slugs.join(',');
  return `/api/peers/connections${screens.length > mostQueryCharacters ? '' : `?screens=${screens}`}`;
};

interface Dependencies {
  peers: Pick<Peers, 'all' | 'call' | 'settled'>;
  nodeId: string;
}

export const createAskForConnections = ({ peers, nodeId }: Dependencies): AskForConnections => {
  const older = new Map<string, OlderPeer>();

  /** Asks for one screen, the one that was asked for longest ago; recent answers stand in for the others. */
  const askOlder = async (peer: Peer, known: OlderPeer, slugs: readonly string[]): Promise<PeerAnswer> => {
    const { answers } = known;
    const askedAt = (slug: string): number => answers.get(slug)?.at ?? Number.NEGATIVE_INFINITY;
    const [slug = ''] = slugs.toSorted((a, b) => askedAt(a) - askedAt(b));
    const answer = await peers.call(peer, {
      path: `/api/screens/${slug}/connections`,
      headers: { [relayHeader]: nodeId },
      schema: snapshotAnswer,
      mostBytes: MOST_BYTES,
    });
    const isMissing = !answer.ok && answer.code === 'screen_not_found';
    const connections = answer.ok ? answer.body.connections : isMissing ? [] : null;
    answers.delete(slug);
    remember(answers, slug, { connections, at: performance.now() }, MOST_SCREENS);
    const earliest = performance.now() - STAND_IN_MS;
    return new Map(
      slugs.map((each) => [each, askedAt(each) < earliest ? null : (answers.get(each)?.connections ?? null)]),
    );
  };

  /** One request; two where the peer turns out to be an older one. */
  const askPeer = async (peer: Peer, slugs: readonly string[]): Promise<PeerAnswer> => {
    const key = peer.nodeId ?? peer.url;
    const known = older.get(key);
    if (known !== undefined && known.instance === peer.state?.instance) return askOlder(peer, known, slugs);
    const answer = await peers.call(peer, { path: pathFor(slugs), schema: peerConnections, mostBytes: MOST_BYTES });
    if (answer.ok) return new Map(answer.body.screens.map(({ slug, connections }) => [slug, connections]));
    if (answer.code !== 'not_found') return new Map(slugs.map((slug) => [slug, null]));
    const found: OlderPeer = { instance: peer.state?.instance, answers: new Map() };
    remember(older, key, found, MOST_PEERS);
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
