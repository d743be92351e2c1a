/** Answers to other boxes, which are small and frequent. */
import type { Context } from './routes.ts';

const browserHeaders = [
  'Content-Security-Policy',
  'X-Frame-Options',
  'Origin-Agent-Cluster',
  'Cross-Origin-Opener-Policy',
  'Cross-Origin-Resource-Policy',
  'Referrer-Policy',
  'Permissions-Policy',
  'X-Request-Id',
  'Cache-Control',
];
/** Answers a box, without the headers that only browsers and caches read. */
export const answerPeer = (ctx: Context, body: unknown): void => {
  for (const name of browserHeaders) ctx.remove(name);
  ctx.res.sendDate = false;
  ctx.body = body;
};
