const MOST_CONNECTIONS = 10_000;
/** Descriptors that connections leave to everything else: the state, media, ffmpeg, other boxes. */
const KEPT = 256;

/**
 * How many connections the service takes at a time. Each holds a descriptor; a service that has none left could not even
 * write down its state.
 * @param limits `/proc/self/limits` (proc(5)); empty where the system has no such file
 */
export const mostConnections = (limits: string): number => {
  const descriptors = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.min(MOST_CONNECTIONS, Math.max(descriptors - KEPT, Math.floor(descriptors / 2)));
};
