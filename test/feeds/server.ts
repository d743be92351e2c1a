/** A server of feeds that behaves as badly as it is told to. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface FeedServer {
  /** The address of a path, on a loopback host of its own for each number. */
  at(path: string, host?: number): string;
  /** The requests so far. */
  requests: IncomingMessage[];
  /** Ends it, and every connection. */
  close(): Promise<void>;
}

/** Starts a server on a free port; it ends with the test. */
export const startFeedServer = async (listener: RequestListener): Promise<FeedServer> => {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return { requests, close, at: (path, host = 1) => `http://127.0.0.${host}:${port}${path}` };
};

/** Writes for as long as there is somebody to read. */
export const pour = (response: ServerResponse, chunk: Buffer | string, everyMs: number | null = null): void => {
  if (everyMs !== null) {
    const timer = setInterval(() => response.write(chunk), everyMs);
    response.on('close', () => clearInterval(timer));
    return;
  }
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
};

export const rss = (items: string, channel = ''): string =>
  `<?xml version="1.0"?><rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>News</title>${channel}${items}</channel></rss>`;

export const item = (title: string, more = ''): string =>
  `<item><title>${title}</title><guid>${title}</guid>${more}</item>`;
