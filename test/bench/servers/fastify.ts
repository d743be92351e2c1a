/** Fastify with the same Buffer and headers. The second argument is the folder that it is installed in. */
import { createRequire } from 'node:module';
import { readAnswer } from './answer.ts';

interface Reply {
  code(status: number): Reply;
  headers(headers: Record<string, string>): Reply;
  send(body?: Buffer): Reply;
}
interface Fastify {
  get(path: string, handler: (request: { headers: Record<string, string> }, reply: Reply) => Reply): void;
  listen(options: { port: number; host: string }): Promise<string>;
}

const fastify = createRequire(`${process.argv[3]}/`)('fastify') as () => Fastify;
const { headers, body } = readAnswer();
const app = fastify();
app.get('/api/screens/:slug/playlist', (request, reply) => {
  const isKnown = request.headers['if-none-match'] === headers['etag'];
  return isKnown ? reply.code(304).headers(headers).send() : reply.headers(headers).send(body);
});
console.log(`listening on ${await app.listen({ port: 0, host: '127.0.0.1' })}`);
