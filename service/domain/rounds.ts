/**
 * Rounds of playlists: nested playlists replaced by their slides, shuffled, with the inserted ones in their places. Their
 * lengths and sizes are computed without expanding them. Pure.
 */
import { groupBy, perObject } from './collections.ts';

/** A playlist as far as it determines its round. A slide is whatever the caller says. */
export interface RoundList<One> {
  id: string;
  order: 'listed' | 'shuffled';
  insert: { playlist_id: string; every: number; count: number } | null;
  items: readonly ({ slide: One } | { playlist_id: string })[];
}

export type RoundLists<One> = ReadonlyMap<string, RoundList<One>>;

/** Longest round, in slides. */
export const longestRound = 1_000;
/** Longest round that goes on for its inserts' sake, in slides. */
const LONGEST_EVEN = 300;

const gcd = (one: number, other: number): number => (other === 0 ? one : gcd(other, one % other));

/** How often the list is played in one round, and how many slides are inserted. */
interface Plan {
  passes: number;
  inserted: number;
}

/**
 * The round lasts until both lists come out even, if that fits; else until an insert falls on the end of the list, if that is
 * soon; else it is one pass, or as many as one insert needs.
 * @param own slides of the list
 * @param other slides of the inserted list
 */
const planOf = (own: number, other: number, { every, count }: { every: number; count: number }): Plan => {
  if (own === 0 || other === 0) return { passes: 1, inserted: 0 };
  // Passes until an insert falls on the end of the list, and inserts until the inserted list comes out even.
  const passes = every / gcd(own, every);
  const inserts = (passes * own) / every;
  const rounds = other / gcd(inserts * count, other);
  if (rounds * (passes * own + inserts * count) <= longestRound) {
    return { passes: rounds * passes, inserted: rounds * inserts * count };
  }
  // Each round begins with the first inserted slide, and the distance between inserts stays what it is.
  if (passes * own + inserts * count <= LONGEST_EVEN) return { passes, inserted: inserts * count };
  const few = Math.ceil(every / own);
  return { passes: few, inserted: Math.floor((few * own) / every) * count };
};

/** Ids of the playlists that one names, nested or inserted. */
export const namedBy = ({ items, insert }: RoundList<unknown>): string[] => [
  ...items.flatMap((item) => ('playlist_id' in item ? [item.playlist_id] : [])),
  ...(insert === null ? [] : [insert.playlist_id]),
];

/** Whether a round is the list as it stands. */
const isListed = ({ order, insert, items }: RoundList<unknown>): boolean =>
  order === 'listed' && insert === null && items.every((item) => 'slide' in item);

/** As {@link namedBy}, each once, where it is named last. */
const distinctNamedBy = perObject((list: RoundList<unknown>): string[] =>
  [...new Set(namedBy(list).reverse())].reverse(),
);

/**
 * All playlists that the given ones need, themselves included.
 * @param count called with the number of lists that are looked at next
 */
export const reachableFrom = (
  ids: Iterable<string>,
  lists: RoundLists<unknown>,
  count: (steps: number) => void = () => {},
): Set<string> => {
  const found = new Set<string>();
  const open = [...ids];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const list = lists.get(id);
    if (list === undefined || found.has(id)) continue;
    found.add(id);
    const named = distinctNamedBy(list);
    count(1 + named.length);
    for (const each of named) open.push(each);
  }
  return found;
};

/** The playlists in an order in which each comes after those that it names, and those in a cycle or above one. */
const sorted = (lists: RoundLists<unknown>): { order: string[]; cyclic: string[] } => {
  const users = new Map<string, string[]>();
  const missing = new Map<string, number>();
  for (const [id, list] of lists) {
    const named = new Set(namedBy(list).filter((each) => lists.has(each)));
    missing.set(id, named.size);
    for (const each of named) {
      const before = users.get(each);
      if (before === undefined) users.set(each, [id]);
      else before.push(id);
    }
  }
  const order = [...lists.keys()].filter((id) => missing.get(id) === 0);
  for (const id of order) {
    for (const user of users.get(id) ?? []) {
      const left = (missing.get(user) ?? 0) - 1;
      missing.set(user, left);
      if (left === 0) order.push(user);
    }
  }
  const done = new Set(order);
  return { order, cyclic: [...lists.keys()].filter((id) => !done.has(id)) };
};

/** A cycle of playlists that name each other, as ids, the first one again at the end; null: there is none. */
export const cycleOf = (lists: RoundLists<unknown>): string[] | null => {
  const { cyclic } = sorted(lists);
  const isCyclic = new Set(cyclic);
  const path: string[] = [];
  const seen = new Map<string, number>();
  // Each playlist that is left names another one that is left.
  for (let id = cyclic[0]; id !== undefined; ) {
    const at = seen.get(id);
    if (at !== undefined) return [...path.slice(at), id];
    seen.set(id, path.length);
    path.push(id);
    const list = lists.get(id);
    id = list && namedBy(list).find((each) => isCyclic.has(each));
  }
  return null;
};

export interface RoundSize {
  /** Infinite if it cannot be counted. */
  slides: number;
  bytes: number;
}

/**
 * The sizes of all rounds, without expanding any; lists must have no cycle. Where a round ends within an inserted list,
 * `bytes` is an upper bound.
 */
export const roundSizes = <One>(
  lists: RoundLists<One>,
  bytesOf: (slide: One) => number,
): ReadonlyMap<string, RoundSize> => {
  const sizes = new Map<string, RoundSize & { largest: number }>();
  const none = { slides: 0, bytes: 0, largest: 0 };
  for (const id of sorted(lists).order) {
    const list = lists.get(id);
    if (list === undefined) continue;
    const own = { ...none };
    for (const item of list.items) {
      const bytes = 'slide' in item ? bytesOf(item.slide) : 0;
      const size = 'slide' in item ? { slides: 1, bytes, largest: bytes } : (sizes.get(item.playlist_id) ?? none);
      own.slides += size.slides;
      own.bytes += size.bytes;
      own.largest = Math.max(own.largest, size.largest);
    }
    const other = list.insert && (sizes.get(list.insert.playlist_id) ?? none);
    if (list.insert === null || other === null || own.slides > longestRound || other.slides > longestRound) {
      sizes.set(id, other !== null && other.slides > longestRound ? { ...own, slides: Number.POSITIVE_INFINITY } : own);
      continue;
    }
    const { passes, inserted } = planOf(own.slides, other.slides, list.insert);
    const whole = other.slides === 0 ? 0 : Math.floor(inserted / other.slides);
    const rest = inserted - whole * other.slides;
    sizes.set(id, {
      slides: passes * own.slides + inserted,
      bytes: passes * own.bytes + whole * other.bytes + Math.min(other.bytes, rest * other.largest),
      largest: inserted === 0 ? own.largest : Math.max(own.largest, other.largest),
    });
  }
  return sizes;
};

/** FNV-1a of a text, 32 bits, mixed once more, as its last characters differ least. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** A permutation of a list of ids by the name of the list and a day. As far as it can, no id follows itself, around the end too. */
const permutation = (ids: readonly string[], name: string, day: string): number[] => {
  const order = [...ids.keys()]
    .map((index) => ({ index, hash: hashOf(`${day} ${name} ${index}`) }))
    .sort((one, other) => one.hash - other.hash || one.index - other.index)
    .map(({ index }) => index);
  const count = order.length;
  const idAt = (at: number): string => ids[order[(at + count) % count] ?? 0] ?? '';
  const fits = (at: number): boolean => idAt(at) !== idAt(at - 1) && idAt(at) !== idAt(at + 1);
  const swap = (one: number, other: number): void => {
    [order[one], order[other]] = [order[other] ?? 0, order[one] ?? 0];
  };
  for (let at = 0; at < count; at++) {
    if (idAt(at) !== idAt(at - 1)) continue;
    for (let other = 0; other < count; other++) {
      swap(at, other);
      if (fits(at) && fits(other)) break;
      swap(at, other);
    }
  }
  if (order.every((_, at) => idAt(at) !== idAt(at - 1))) return order;
  // The most frequent id first, in every other place, and then in those between: apart wherever none has more than half of them.
  const groups = groupBy(order, (index) => ids[index] ?? null);
  const byFrequency = [...groups.values()].sort((one, other) => other.length - one.length).flat();
  const places = [...order.keys()].sort((one, other) => (one % 2) - (other % 2) || one - other);
  places.forEach((place, at) => {
    order[place] = byFrequency[at] ?? 0;
  });
  return order;
};

/** The list in the order of a day. It does not begin with what ended the order of the day before. */
const shuffledOn = <One>(
  list: readonly One[],
  name: string,
  { today, yesterday }: Days,
  idOf: (slide: One) => string,
): One[] => {
  const ids = list.map(idOf);
  // Of two there is one order that repeats nothing.
  if (list.length < 3) return [...list];
  const order = permutation(ids, name, today);
  const distinct = new Set(ids);
  if (distinct.size < ids.length) {
    // An order in which no id follows itself around the end stays one when it is turned: each day begins with one id, and ends
    // with another.
    const [first] = [...distinct].sort();
    const at = order.findIndex((index) => ids[index] === first);
    order.push(...order.splice(0, at));
  } else if (order[0] === permutation(ids, name, yesterday).at(-1)) {
    // The last one stays, on which the day after depends.
    [order[0], order[1]] = [order[1] ?? 0, order[0] ?? 0];
  }
  return order.flatMap((index) => list.slice(index, index + 1));
};

/** Dates of the site, `YYYY-MM-DD`. */
export interface Days {
  today: string;
  yesterday: string;
}

/**
 * The rounds of a day, each expanded once. Only for lists without cycles. A round that is too long has no slides, but a list
 * that plays as it stands has all of its own.
 * @param idOf the id of a slide, which is not to follow itself
 */
export const createRounds = <One>(
  lists: RoundLists<One>,
  days: Days,
  idOf: (slide: One) => string,
): ((id: string) => readonly One[]) => {
  const known = new Map<string, readonly One[]>();
  const expand = ({ id, items, order, insert }: RoundList<One>): One[] => {
    const flat = items.flatMap((item) => ('slide' in item ? [item.slide] : (known.get(item.playlist_id) ?? [])));
    const own = order === 'shuffled' ? shuffledOn(flat, id, days, idOf) : flat;
    const others = insert === null ? [] : (known.get(insert.playlist_id) ?? []);
    if (insert === null || own.length === 0 || others.length === 0) return own;
    const { passes } = planOf(own.length, others.length, insert);
    let at = 0;
    return Array.from({ length: passes * own.length }, (_, index) => index).flatMap((index) => {
      const slide = own.slice(index % own.length, (index % own.length) + 1);
      if ((index + 1) % insert.every !== 0) return slide;
      const next = Array.from({ length: insert.count }, () => at++ % others.length);
      return [...slide, ...next.flatMap((place) => others.slice(place, place + 1))];
    });
  };
  return (wanted) => {
    const found = known.get(wanted);
    if (found !== undefined) return found;
    const needed = reachableFrom([wanted], lists);
    const part = new Map([...lists].filter(([id]) => needed.has(id)));
    const sizes = roundSizes(part, () => 0);
    for (const id of sorted(part).order) {
      const list = part.get(id);
      if (list === undefined || known.has(id)) continue;
      const fits = (sizes.get(id)?.slides ?? 0) <= longestRound || isListed(list);
      known.set(id, fits ? expand(list) : []);
    }
    return known.get(wanted) ?? [];
  };
};

/** Whether the round of a playlist differs from day to day. */
export const isDaily = (id: string, lists: RoundLists<unknown>): boolean =>
  [...reachableFrom([id], lists)].some((each) => lists.get(each)?.order === 'shuffled');
