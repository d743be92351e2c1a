/** Lists and maps. */

/** The values by key, in their order; those whose key is null are left out. `Map.groupBy` needs Node 21. */
export const groupBy = <Key, Value>(
  values: readonly Value[],
  keyOf: (value: Value) => Key | null,
): Map<Key, Value[]> => {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
};

/** How often each value occurs. */
export const countBy = (values: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

/** Puts a value into a set, or takes it out. */
export const setMember = <Value>(set: Set<Value>, value: Value, isIn: boolean): void => {
  if (isIn) set.add(value);
  else set.delete(value);
};

/** The values in a random order, each order equally likely (Fisher and Yates). @param random of [0, 1) */
export const shuffled = <T>(values: readonly T[], random: () => number): T[] => {
  const rest = [...values];
  return values.flatMap(() => rest.splice(Math.floor(random() * rest.length), 1));
};

/**
 * Sets a key as the most recent entry of a map, and deletes the oldest entries beyond `most`. A map that is changed only
 * through this function is in the order of the last changes.
 */
export const remember = <Key, Value>(known: Map<Key, Value>, key: Key, value: Value, most: number): void => {
  known.delete(key);
  known.set(key, value);
  for (const oldest of known.keys()) {
    if (known.size <= most) return;
    known.delete(oldest);
  }
};

/** Whether a JSON value has at most `levels` levels of nesting. The check does not recurse further. */
export const isNestedWithin = (levels: number, value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((each) => isNestedWithin(levels - 1, each)));

/** A function that works out its result once for each object, which must not be changed. */
export const perObject = <Key extends object, Value>(resultOf: (key: Key) => Value): ((key: Key) => Value) => {
  const results = new WeakMap<Key, { value: Value }>();
  return (key) => {
    const known = results.get(key) ?? { value: resultOf(key) };
    results.set(key, known);
    return known.value;
  };
};

/** The same value with its texts changed, however deep; the value itself where none changes. */
export const mapTexts = <Value>(value: Value, change: (text: string) => string): Value => {
  if (typeof value === 'string') return change(value) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const before: [string, unknown][] = Object.entries(value);
  const after = before.map(([key, each]): [string, unknown] => [key, mapTexts(each, change)]);
  if (after.every(([, each], index) => each === before[index]?.[1])) return value;
  return (Array.isArray(value) ? after.map(([, each]) => each) : Object.fromEntries(after)) as Value;
};
