const MAX_CONNECTIONS = 10_000;
/** File descriptors reserved for state files, media, ffmpeg and requests to peers. */
const RESERVED_DESCRIPTORS = 256;

/**
 * The maximum number of concurrent connections. Each uses a file descriptor; without a free one the service could not
 * save its state.
 * @param limits content of `/proc/self/limits` (proc(5)); empty if the system has no such file
 */
export const maxConnections = (limits: string): number => {
  const descriptors = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.min(MAX_CONNECTIONS, Math.max(descriptors - RESERVED_DESCRIPTORS, Math.floor(descriptors / 2)));
};
