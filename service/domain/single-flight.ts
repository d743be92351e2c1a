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

/**
 * As {@link singleFlight}, but a call while another is in progress gets the result of one that begins after that, which
 * all such calls share.
 */
export const nextFlight = <K, V>(run: (key: K) => Promise<V>): ((key: K) => Promise<V>) => {
  const running = new Map<K, Promise<V>>();
  const waiting = new Map<K, Promise<V>>();
  const start = (key: K): Promise<V> => {
    waiting.delete(key);
    const begun = run(key).finally(() => running.delete(key));
    running.set(key, begun);
    return begun;
  };
  return (key) => {
    const queued = waiting.get(key);
    const current = running.get(key);
    if (queued !== undefined) return queued;
    if (current === undefined) return start(key);
    const next = current.then(
      () => start(key),
      () => start(key),
    );
    waiting.set(key, next);
    return next;
  };
};
