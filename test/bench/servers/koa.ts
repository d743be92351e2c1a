/** Koa as it is commonly used: a router, and an object as the body. */
import type { AddressInfo } from 'node:net';
import { Router } from '@koa/router';
import Koa from 'koa';
import { readAnswer } from './answer.ts';

const { headers, body } = readAnswer();
const payload: unknown = JSON.parse(String(body));
const app = new Koa();
const router = new Router();
router.get('/api/screens/:slug/playlist', (ctx) => {
  ctx.set(headers);
  ctx.body = payload;
  if (ctx.fresh) ctx.status = 304;
});
app.use(router.routes());
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
