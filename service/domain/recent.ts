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
