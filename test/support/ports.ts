/** TCP ports of this machine. Nothing here depends on the test runner. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Below those that systems give to servers on port 0, and to connections: other tests would get the port meanwhile. */
const range = [10_000, 32_768] as const;
const given = new Set<number>();

/** A port that nothing listens on: a server that comes back must have the same one. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(...range);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** @param check called before each further attempt; what it throws ends them */
export const untilListening = async (port: number, check = (): void => undefined): Promise<void> => {
  while (!(await isListening(port))) {
    check();
    await delay(20);
  }
};
