/** TCP ports of this machine. Nothing here depends on the test runner. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A port that nothing listens on: a server that comes back must have the same one. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
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
