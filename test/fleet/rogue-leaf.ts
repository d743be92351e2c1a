/**
 * A connection to the port for leaf nodes that no nats-server makes: it sends what a real one would refuse to pass on.
 * The protocol is that of NATS between a leaf node and its hub, in which `LMSG` and `HMSG` publish.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { MsgHdrs } from '@nats-io/transport-node';
import { keyOf } from '../../service/cli/fleet/keys.ts';

/** What is needed of a client of NATS to attack with it. */
export interface Attacker {
  publish(subject: string, data: string, options?: { reply?: string; headers?: MsgHdrs }): void;
  subscribe(
    subject: string,
    options: { callback: (error: Error | null, message: { data: Uint8Array }) => void },
  ): unknown;
  flush(): Promise<void>;
}

const encodeHeaders = (headers: MsgHdrs): string =>
  `NATS/1.0\r\n${[...headers].flatMap(([name, values]) => values.map((value) => `${name}: ${value}\r\n`)).join('')}\r\n`;

/**
 * @param file the `.creds` of the user
 * @param onEnd called with a function that closes the connection
 * @throws Error with the words of the server, if it refuses the user
 */
export const openRogueLeaf = async (
  port: number,
  file: string,
  onEnd: (end: () => void) => void,
): Promise<Attacker> => {
  const text = readFileSync(file, 'utf8');
  const [, jwt = ''] = /NATS USER JWT-+\s+(\S+)/.exec(text) ?? [];
  const [, seed = ''] = /USER NKEY SEED-+\s+(\S+)/.exec(text) ?? [];
  const socket = connect(port, '127.0.0.1');
  onEnd(() => void socket.destroy());
  const listeners: ((error: Error | null, message: { data: Uint8Array }) => void)[] = [];
  const pongs: { resolve: () => void; reject: (error: Error) => void }[] = [];
  let greet: (info: { nonce: string }) => void = () => undefined;
  const greeted = new Promise<{ nonce: string }>((resolve) => {
    greet = resolve;
  });
  let fault = new Error('the server has closed the connection');
  const protocol: Record<string, (rest: string) => void> = {
    INFO: (rest) => greet(JSON.parse(rest)),
    PING: () => void socket.write('PONG\r\n'),
    PONG: () => pongs.shift()?.resolve(),
    '-ERR': (rest) => {
      fault = new Error(rest);
    },
  };
  let received = Buffer.alloc(0);
  socket.on('data', (data) => {
    received = Buffer.concat([received, data]);
    for (let end = received.indexOf('\r\n'); end >= 0; end = received.indexOf('\r\n')) {
      const [, verb = '', rest = ''] = /^(\S*) ?(.*)$/.exec(received.toString('latin1', 0, end)) ?? [];
      const size = verb === 'LMSG' || verb === 'HMSG' ? Number(rest.split(' ').at(-1)) : null;
      if (size !== null && received.length < end + size + 4) return;
      if (size !== null) {
        for (const listener of listeners) listener(null, { data: received.subarray(end + 2, end + 2 + size) });
      } else protocol[verb]?.(rest);
      received = received.subarray(size === null ? end + 2 : end + size + 4);
    }
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    for (const { reject } of pongs.splice(0)) reject(fault);
  });
  const flush = (): Promise<void> =>
    new Promise((resolve, reject) => {
      if (socket.closed) return reject(fault);
      pongs.push({ resolve, reject });
      socket.write('PING\r\n');
    });
  await once(socket, 'connect');
  const { nonce } = await greeted;
  const sig = keyOf(seed).sign(nonce).toString('base64url');
  const claims = { jwt, sig, server_id: 'ROGUE', name: 'rogue', version: '2.10.27', headers: true, protocol: 1 };
  socket.write(`CONNECT ${JSON.stringify(claims)}\r\n`);
  await flush();
  return {
    flush,
    publish: (subject, data, { reply, headers } = {}) => {
      const head = headers === undefined ? '' : encodeHeaders(headers);
      const to = `${subject}${reply === undefined ? '' : ` ${reply}`}`;
      const [size, all] = [Buffer.byteLength(head), Buffer.byteLength(head + data)];
      socket.write(`${head === '' ? `LMSG ${to} ${all}` : `HMSG ${to} ${size} ${all}`}\r\n${head}${data}\r\n`);
    },
    subscribe: (subject, { callback }) => {
      listeners.push(callback);
      socket.write(`LS+ ${subject}\r\n`);
    },
  };
};
