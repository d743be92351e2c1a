/** HTTP by hand, for what fetch will not send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface Answer {
  status: number;
  /** By lower-case names. */
  headers: Record<string, string>;
  body: string;
}

/** A connection to a service, cut when the test is over. */
export const connectTo = async (url: string): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  // A service that hangs up while a test is still writing is what some tests are about.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};

export const parseAnswer = (text: string): Answer => {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.replace(/^[^:]*:\s*/, '')]);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: rest.join('\r\n\r\n'),
  };
};

/**
 * Sends the lines of a head, and a body, as they are; resolves with the answer once the service has hung up.
 * A head that does not ask for that itself gets `Connection: close`.
 */
export const exchange = async (url: string, lines: readonly string[], body: string | Buffer = ''): Promise<Answer> => {
  const socket = await connectTo(url);
  const close = lines.some((line) => /^connection:/i.test(line)) ? [] : ['Connection: close'];
  socket.write(`${[...lines, ...close].join('\r\n')}\r\n\r\n`);
  socket.write(body);
  return parseAnswer((await buffer(socket)).toString());
};

/** The `Host` line that fits the address of a service. */
export const hostLine = (url: string): string => `Host: ${new URL(url).host}`;

/** The code in an error's body. */
export const codeOf = ({ body }: Pick<Answer, 'body'>): string =>
  (JSON.parse(body) as { error: { code: string } }).error.code;
