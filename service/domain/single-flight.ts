/**
 * Joins concurrent calls: a call while one with the same key is in progress gets the result of that one.
 * @param run is called with the key
 */
export const singleFlight = <K, V>(run: (key: K) => Promise<V>): ((key: K) => Promise<V>) => {
  const running = new Map<K, Promise<V>>();
  return (key) => {
    const known = running.get(key);
    if (known !== undefined) return known;
    const started = run(key).finally(() => running.delete(key));
    running.set(key, started);
    return started;
  };
};
