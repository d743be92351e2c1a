/**
 * Merges two edits of one document; pure. Records are matched by id or slug, so that two people who change different
 * slides do not conflict. What both changed differently is a conflict, which the user resolves. Records that both added
 * with the same id are never mixed: they may be different things.
 */
import { perObject } from './collections.ts';

type Fields = Record<string, unknown>;

/** Whether two values are the same JSON. */
export const isEqual = (one: unknown, other: unknown): boolean => {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual((one as Fields)[key], (other as Fields)[key]))
  );
};

type Key = string | number;

export interface Conflict {
  /** Keys from the root; a record of a list is named by its id. */
  path: readonly Key[];
  base: unknown;
  mine: unknown;
  theirs: unknown;
  /** `record`: both added a record with this id, and a choice takes one whole. `order`: both moved records of this list. */
  of?: 'record' | 'order';
}

export interface Merge {
  /** With my side of each conflict that is not in `theirs`. */
  value: unknown;
  conflicts: Conflict[];
}

/** A value that is not there: undefined is no JSON. */
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const keyOf = (record: unknown): string | null => {
  if (!isObject(record)) return null;
  const key = record['slug'] ?? record['id'];
  return typeof key === 'string' ? key : null;
};

/** The records of a list by key, in order; null: a key is missing or duplicated. */
const keyed = (list: unknown): Map<string, unknown> | null => {
  if (!Array.isArray(list)) return null;
  const keys = list.map(keyOf);
  const map = new Map(list.map((record, index) => [keys[index] as string, record as unknown]));
  return keys.includes(null) || map.size < list.length ? null : map;
};

const pathKey = (path: readonly Key[]): string => JSON.stringify(path);

/** The order of `first`, with the records that `second` alone has after the one that they follow there. */
const orderOf = (first: readonly string[], second: readonly string[]): string[] => {
  const leading: string[] = [];
  const following = new Map(first.map((key): [string, string[]] => [key, []]));
  let run = leading;
  for (const key of second) {
    const next = following.get(key);
    if (next === undefined) run.push(key);
    else run = next;
  }
  return [...leading, ...[...following].flatMap(([key, keys]) => [key, ...keys])];
};

/** @param choices path of each conflict whose other side is taken, by {@link conflictKey} */
export const merge = (
  base: unknown,
  mine: unknown,
  theirs: unknown,
  choices: ReadonlySet<string> = new Set(),
): Merge => {
  const conflicts: Conflict[] = [];

  const choose = (conflict: Conflict): unknown => {
    conflicts.push(conflict);
    return choices.has(pathKey(conflict.path)) ? conflict.theirs : conflict.mine;
  };

  const both = (at: readonly Key[], b: unknown, m: unknown, t: unknown): unknown => {
    if (isEqual(m, t) || isEqual(b, t)) return m;
    if (isEqual(b, m)) return t;
    if (isObject(m) && isObject(t)) return records(at, isObject(b) ? b : {}, m, t);
    const [bs, ms, ts] = [keyed(b ?? []), keyed(m), keyed(t)];
    if (bs !== null && ms !== null && ts !== null) {
      const [before, my, their] = [bs, ms, ts].map((list) =>
        [...list.keys()].filter((key) => bs.has(key) && ms.has(key) && ts.has(key)),
      );
      let isMine = !isEqual(before, my);
      if (isMine && !isEqual(before, their) && !isEqual(my, their)) {
        isMine = choose({ path: at, base: b, mine: m, theirs: t, of: 'order' }) === m;
      }
      const [first, second] = isMine ? [ms, ts] : [ts, ms];
      return orderOf([...first.keys()], [...second.keys()]).flatMap((key) => {
        const [path, own, other] = [[...at, key], ms.get(key), ts.get(key)];
        const isNew = !bs.has(key) && own !== undefined && other !== undefined && !isEqual(own, other);
        const merged = isNew
          ? choose({ path, base: undefined, mine: own, theirs: other, of: 'record' })
          : both(path, bs.get(key), own, other);
        return merged === undefined ? [] : [merged];
      });
    }
    return choose({ path: at, base: b, mine: m, theirs: t });
  };

  const records = (at: readonly Key[], b: Fields, m: Fields, t: Fields): Fields => {
    const keys = [...new Set([...Object.keys(t), ...Object.keys(m)])];
    return Object.fromEntries(
      keys.flatMap((key) => {
        const merged = both([...at, key], b[key], m[key], t[key]);
        return merged === undefined ? [] : [[key, merged] as const];
      }),
    );
  };

  return { value: both([], base, mine, theirs), conflicts };
};

export const conflictKey = ({ path }: Pick<Conflict, 'path'>): string => pathKey(path);

/** Where the records of a list are, by key; a document with many conflicts asks as often. */
const placesOf = perObject(
  (list: readonly unknown[]): ReadonlyMap<Key | null, number> =>
    new Map(list.map((each, index) => [keyOf(each), index] as const).reverse()),
);

const placeOf = (list: unknown, key: Key): number => (Array.isArray(list) ? (placesOf(list).get(key) ?? -1) : -1);

/**
 * The path of a conflict as paths of errors are written: `playlists[0].slides[3].title`.
 * @param documents the first that has a record tells its place; they must not be changed
 */
export const spellConflict = ({ path }: Pick<Conflict, 'path'>, documents: readonly unknown[]): string => {
  let values = documents;
  let spelled = '';
  for (const key of path) {
    const holder = values.find((value) => Array.isArray(value) && placeOf(value, key) !== -1);
    if (holder !== undefined) spelled += `[${placeOf(holder, key)}]`;
    else spelled += spelled === '' ? String(key) : `.${key}`;
    values = values.map((value) =>
      Array.isArray(value) ? (value[placeOf(value, key)] as unknown) : isObject(value) ? value[key] : undefined,
    );
  }
  return spelled;
};
