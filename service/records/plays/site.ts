/** The plays of the whole site, in the order of their start, from all boxes. */
import { setTimeout as delay } from 'node:timers/promises';
import type { PeerPlays, Play } from '../../contract/plays.ts';
import type { Peer, Peers } from '../../peers/index.ts';
import { mergePlays } from './merge.ts';
import { ownSequences, type Range } from './ordered.ts';
import type { Cursor } from './pages.ts';
import type { Parts } from './parts.ts';

interface Dependencies {
  parts: Parts;
  peers: Pick<Peers, 'all' | 'ask' | 'settled'>;
}

/** Plays of all peers in memory at a time. */
const MAX_READ_AHEAD = 4_000;
const MAX_PAGE = 1_000;
const MIN_PAGE = 50;
const ATTEMPTS = 3;
const PAUSE_MS = 1_000;

/** A box stopped answering: the output so far is incomplete. */
class PeerLost extends Error {}

export const createSitePlays = ({ parts, peers }: Dependencies) => {
  const ask = (peer: Peer, { from, to, screen }: Range, cursor: Cursor | null, limit: number) => {
    const instant = (time: number | null): string | undefined =>
      time === null ? undefined : new Date(time).toISOString();
    const range = { from: instant(from), to: instant(to), screen: screen ?? undefined };
    return peers.ask(peer, 'records.plays', { ...range, ...cursor, limit });
  };

  async function* follow(peer: Peer, first: PeerPlays, range: Range, limit: number): AsyncGenerator<Play[]> {
    yield first.plays;
    for (let { next } = first; next !== null; ) {
      let answer = await ask(peer, range, next, limit);
      for (let attempt = 1; !answer.ok && attempt < ATTEMPTS; attempt += 1) {
        await delay(PAUSE_MS, undefined, { ref: false });
        answer = await ask(peer, range, next, limit);
      }
      if (!answer.ok) throw new PeerLost(`the box at ${peer.url} ${answer.reason}`);
      yield answer.body.plays;
      next = answer.body.next;
    }
  }

  return {
    /**
     * Asks all boxes for their first plays.
     * @returns `degraded`: a known box did not answer, and its plays are missing. The sequence throws where a box that
     *   answered is lost later.
     */
    read: async (range: Range): Promise<{ plays: AsyncGenerator<Play[]>; degraded: boolean }> => {
      await peers.settled();
      const boxes = peers.all();
      const limit = Math.min(MAX_PAGE, Math.max(MIN_PAGE, Math.floor(MAX_READ_AHEAD / Math.max(1, boxes.length))));
      const answers = await Promise.all(
        boxes.map(async (peer) => ({ peer, answer: await ask(peer, range, null, limit) })),
      );
      const remote = answers.flatMap(({ peer, answer }) =>
        answer.ok ? [follow(peer, answer.body, range, limit)] : [],
      );
      return {
        plays: mergePlays([...ownSequences(parts, range), ...remote]),
        degraded: answers.some(({ answer }) => !answer.ok),
      };
    },
  };
};
