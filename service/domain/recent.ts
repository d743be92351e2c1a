/**
 * Puts something last in a map, as what is known best, and forgets what comes first where the map gets too large. A map
 * that all changes go through this way is in the order of the last changes.
 */
export const remember = <Key, Value>(known: Map<Key, Value>, key: Key, value: Value, most: number): void => {
  known.delete(key);
  known.set(key, value);
  for (const oldest of known.keys()) {
    if (known.size <= most) return;
    known.delete(oldest);
  }
};
