/** The floor: node:http with a Buffer and headers that are ready. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readAnswer } from './answer.ts';

const { headers, body } = readAnswer();
const notModified = Object.entries(headers).flat();
const ready = [...notModified, 'Content-Length', String(body.length)];
const etag = headers['etag'];

const server = createServer((request, response) => {
  if (etag !== undefined && request.headers['if-none-match'] === etag) response.writeHead(304, notModified).end();
  else response.writeHead(200, ready).end(body);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
