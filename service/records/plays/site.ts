/** The plays of the whole site, in the order of their start: boxes ask each other for theirs in pages. */
import { setTimeout as delay } from 'node:timers/promises';
import type { PeerPlays, Play } from '../../contract/plays.ts';
import { remember } from '../../domain/collections.ts';
import type { ServiceContext } from '../../module.ts';
import type { Peer, Peers } from '../../peers/index.ts';
import { mergePlays, ownSequences, type Range } from './ordered.ts';
import type { Parts } from './parts.ts';

/** Where a page begins: after the first `skip` plays that started at `after`. */
interface Cursor {
  /** ISO 8601 */
  after: string;
  skip: number;
}

/** Readings that are continued; others start again at their cursor. */
const MAX_READINGS = 8;

interface Reading {
  plays: AsyncGenerator<Play[]>;
  /** What was read beyond the last page. */
  rest: Play[];
}

const countAt = (plays: readonly Play[], start: string): number =>
  plays.filter(({ started_at }) => started_at === start).length;

/** Well below what a box takes as an answer. */
const MAX_PAGE_BYTES = 8 * 1024 ** 2;

/** As many of the first plays as fit, one at least. */
const fitting = (plays: readonly Play[], limit: number, maxBytes: number): Play[] => {
  let bytes = 0;
  const end = plays.slice(0, limit).findIndex((play, index) => {
    bytes += Buffer.byteLength(JSON.stringify(play)) + 1;
    return index > 0 && bytes > maxBytes;
  });
  return plays.slice(0, end === -1 ? limit : end);
};

/** Pages for other boxes: an answer is signed whole, so it is not streamed. @param parts of this box */
export const createPlayPages = (
  { tempo }: Pick<ServiceContext, 'tempo'>,
  parts: Parts,
  { maxBytes = MAX_PAGE_BYTES }: { maxBytes?: number } = {},
) => {
  const readings = new Map<string, Reading & { timer: NodeJS.Timeout }>();

  const end = (key: string): void => {
    const reading = readings.get(key);
    readings.delete(key);
    clearTimeout(reading?.timer);
    void reading?.plays.return(undefined);
  };

  const begin = async (range: Range, cursor: Cursor | null): Promise<Reading> => {
    const from = cursor === null ? range.from : Date.parse(cursor.after);
    const plays = mergePlays(ownSequences(parts, { ...range, from }));
    let rest: Play[] = [];
    for (let left = cursor?.skip ?? 0; left > 0; ) {
      const { done, value } = await plays.next();
      if (done === true) break;
      const skipped = Math.min(left, countAt(value, cursor?.after ?? ''));
      rest = value.slice(skipped);
      left = skipped === value.length ? left - skipped : 0;
    }
    return { plays, rest };
  };

  /** Takes a reading that ended at the cursor, or begins one there. */
  const take = async (key: string, range: Range, cursor: Cursor | null): Promise<Reading> => {
    const known = readings.get(key);
    if (known === undefined) return begin(range, cursor);
    readings.delete(key);
    clearTimeout(known.timer);
    return known;
  };

  return {
    /** The next plays, at most `limit`, and fewer where they are large. */
    read: async (range: Range, cursor: Cursor | null, limit: number): Promise<PeerPlays> => {
      const keyOf = (at: Cursor | null): string => JSON.stringify([range, at]);
      const { plays, rest } = await take(keyOf(cursor), range, cursor);
      const found = rest;
      let isOver = false;
      while (found.length < limit && !isOver) {
        const { done, value } = await plays.next();
        isOver = done === true;
        if (!isOver) found.push(...(value as Play[]));
      }
      const page = fitting(found, limit, maxBytes);
      const last = page.at(-1);
      if (last === undefined || (isOver && page.length === found.length)) return { plays: page, next: null };
      const after = last.started_at;
      const before = cursor?.after === after ? cursor.skip : 0;
      const next = { after, skip: before + countAt(page, after) };
      const timer = setTimeout(end, tempo.records.reading, keyOf(next)).unref();
      for (const oldest of readings.keys()) if (readings.size >= MAX_READINGS) end(oldest);
      remember(readings, keyOf(next), { plays, rest: found.slice(page.length), timer }, MAX_READINGS);
      return { plays: page, next };
    },
    close: (): void => {
      for (const key of readings.keys()) end(key);
    },
  };
};

/** Plays of all peers in memory at a time. */
const MAX_READ_AHEAD = 4_000;
const MAX_PAGE = 1_000;
const MIN_PAGE = 50;
const ATTEMPTS = 3;

/** A box stopped answering: the output so far is incomplete. */
class PeerLost extends Error {}

export const createSitePlays = (
  { tempo }: Pick<ServiceContext, 'tempo'>,
  { parts, peers }: { parts: Parts; peers: Pick<Peers, 'all' | 'ask' | 'settled'> },
) => {
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
        await delay(tempo.records.again, undefined, { ref: false });
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
     * @returns `degraded`: a known box did not answer, or is of another protocol, and its plays are missing. The sequence throws where a box that
     *   answered is lost later.
     */
    read: async (range: Range): Promise<{ plays: AsyncGenerator<Play[]>; degraded: boolean }> => {
      await peers.settled();
      const all = peers.all();
      // One that hangs is found out soon, though the first plays of a slow one may take long to find.
      const asked = all.filter(({ isForeign }) => !isForeign);
      const isThere = async (peer: Peer): Promise<boolean> => (await peers.ask(peer, 'boxes.probe')).ok;
      const there = await Promise.all(asked.map(async (peer) => (await isThere(peer)) || isThere(peer)));
      const boxes = asked.filter((_, index) => there[index]);
      const limit = Math.min(MAX_PAGE, Math.max(MIN_PAGE, Math.floor(MAX_READ_AHEAD / Math.max(1, boxes.length))));
      const answers = await Promise.all(
        boxes.map(async (peer) => ({ peer, answer: await ask(peer, range, null, limit) })),
      );
      const remote = answers.flatMap(({ peer, answer }) =>
        answer.ok ? [follow(peer, answer.body, range, limit)] : [],
      );
      return {
        plays: mergePlays([...ownSequences(parts, range), ...remote]),
        degraded: boxes.length < all.length || answers.some(({ answer }) => !answer.ok),
      };
    },
  };
};
