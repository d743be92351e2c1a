/** A receiver of webhooks, which can be stopped, started again, and told how to answer. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received<Body> {
  headers: IncomingHttpHeaders;
  text: string;
  body: Body;
}

export const startReceiver = async <Body>() => {
  const received: Received<Body>[] = [];
  let server: Server | undefined;
  let port = 0;
  /** Answers instead of taking the message. */
  let refuse: RequestListener | null = null;
  /** Whether a message is taken; else it is never answered. */
  let takes: (message: Omit<Received<Body>, 'body'>) => boolean = () => true;

  const start = async (): Promise<void> => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of request) chunks.push(chunk as Buffer);
      } catch {
        return;
      }
      if (refuse !== null) return refuse(request, response);
      const text = Buffer.concat(chunks).toString();
      if (!takes({ headers: request.headers, text })) return;
      received.push({ headers: request.headers, text, body: JSON.parse(text) as Body });
      response.writeHead(204).end();
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  };
  const stop = async (): Promise<void> => {
    server?.closeAllConnections();
    server?.close();
    if (server !== undefined) await once(server, 'close');
    server = undefined;
  };
  onTestFinished(stop);
  await start();
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    start,
    stop,
    /** Calls `listener` with each message; where it returns false the message is never answered. */
    onMessage: (listener: typeof takes): void => {
      takes = listener;
    },
    refuseWith: (listener: RequestListener | null): void => {
      refuse = listener;
    },
  };
};
