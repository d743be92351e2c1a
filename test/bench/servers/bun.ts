/** Bun's own server: the same answer, and a broadcast to all subscribers of a topic. Runs on Bun alone. */
import { readAnswer } from './answer.ts';

interface Socket {
  subscribe(topic: string): void;
}
interface BunServer {
  port: number;
  upgrade(request: Request): boolean;
  publish(topic: string, message: string): number;
  subscriberCount(topic: string): number;
}
interface Bun {
  serve(options: {
    port: number;
    hostname: string;
    fetch(request: Request, server: BunServer): Response | Promise<Response> | undefined;
    websocket: { open(socket: Socket): void; message(): void };
  }): BunServer;
}

const { Bun: bun } = globalThis as unknown as { Bun: Bun };
const { headers, body } = readAnswer();
const etag = headers['etag'];

const server = bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request, self) => {
    if (request.method === 'POST') {
      self.publish('all', JSON.stringify({ type: 'command', command: 'next' }));
      return Response.json({ sent: self.subscriberCount('all') });
    }
    if (request.headers.get('upgrade') !== null) return self.upgrade(request) ? undefined : new Response(null);
    const isKnown = etag !== undefined && request.headers.get('if-none-match') === etag;
    return new Response(isKnown ? null : new Uint8Array(body), { status: isKnown ? 304 : 200, headers });
  },
  websocket: { open: (socket) => socket.subscribe('all'), message: () => {} },
});
console.log(`listening on http://127.0.0.1:${server.port}`);
