/** A client process that asks one path again and again, on many connections; it reads no more than it must. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { serveCalls } from '../harness/client.ts';

interface Load {
  port: number;
  path: string;
  headers?: Record<string, string>;
  connections: number;
  ms: number;
  /** Over TLS; the certificate is not checked. */
  isSecure?: boolean;
}

/** Length of a response with its head. Responses of a connection are alike, unless its requests have a condition. */
const lengthOf = (head: string): number => {
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  return head.indexOf('\r\n\r\n') + 4 + (/^HTTP\/1.1 304/.test(head) ? 0 : length);
};

const open = async (port: number, isSecure = false): Promise<Socket> => {
  const to = { port, host: '127.0.0.1' };
  const socket = isSecure ? connectSecurely({ ...to, rejectUnauthorized: false }) : connect(to);
  await once(socket.setNoDelay(true), isSecure ? 'secureConnect' : 'connect');
  return socket;
};

const load = async ({ port, path, headers = {}, connections, ms, isSecure = false }: Load) => {
  const requestWith = (more: Record<string, string>): string => {
    const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...more }).map(([name, value]) => `${name}: ${value}`);
    return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  };
  let request = requestWith(headers);
  const isConditional = 'If-None-Match' in headers;
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port, isSecure)));
  let requests = 0;
  let failed = '';
  const startedAt = performance.now();
  for (const socket of sockets) {
    let expected = 0;
    let received = 0;
    socket.on('data', (chunk) => {
      if (expected === 0) {
        const head = chunk.toString('latin1', 0, 4096);
        if (!/^HTTP\/1.1 (200|304)/.test(head)) failed = head.split('\r\n')[0] ?? '';
        expected = lengthOf(head);
        // What was known has changed: the client knows the new one now.
        const [, etag] = /^HTTP\/1.1 200[\s\S]*\r\netag: *(\S+)/i.exec(head) ?? [];
        if (etag !== undefined && isConditional) request = requestWith({ ...headers, 'If-None-Match': etag });
      }
      received += chunk.length;
      if (received < expected) return;
      received = 0;
      if (isConditional) expected = 0;
      requests += 1;
      socket.write(request);
    });
    socket.write(request);
  }
  await new Promise((resolve) => setTimeout(resolve, ms));
  const elapsed = performance.now() - startedAt;
  for (const socket of sockets) socket.destroy();
  if (failed !== '') throw new Error(`${path} answered ${failed}`);
  return { requests, perSecond: (requests * 1000) / elapsed };
};

let probing: { end(): Promise<number[]> } | null = null;

/**
 * Asks every `everyMs`, answered or not, so that a stall counts for each request that it delays. One connection, whose
 * requests are answered in order.
 */
const startProbing = async ({ port, path, everyMs }: { port: number; path: string; everyMs: number }) => {
  const socket = await open(port);
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  const asked: number[] = [];
  const times: number[] = [];
  let rest = '';
  socket.on('data', (chunk) => {
    rest += chunk.toString('latin1');
    for (let end = rest.indexOf('\r\n\r\n'); end >= 0; end = rest.indexOf('\r\n\r\n')) {
      const length = lengthOf(rest.slice(0, end + 4));
      if (rest.length < length) return;
      rest = rest.slice(length);
      times.push(performance.now() - (asked.shift() ?? Number.NaN));
    }
  });
  const timer = setInterval(() => {
    asked.push(performance.now());
    socket.write(request);
  }, everyMs);
  probing = {
    end: async () => {
      clearInterval(timer);
      while (asked.length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      socket.destroy();
      return times;
    },
  };
};

/** @returns ms of each answer */
const endProbing = async (_: object): Promise<number[]> => (await probing?.end()) ?? [];

const calls = { load, startProbing, endProbing };
export type HttpCalls = typeof calls;

serveCalls(calls);
