import { CodedError } from '../errors.ts';
import type { Context, Routes } from '../http/routes.ts';
import type { RtmpSession } from '../wire/streams.ts';
import type { Sessions } from './sessions.ts';
import { parseSource } from './source.ts';

/** A query parameter that is given once, or not at all. */
const parameter = ({ query }: Context, field: string): string | undefined => {
  const value = query[field];
  if (Array.isArray(value)) throw new CodedError('invalid_field', `${field} is given more than once.`, { field });
  return value;
};

const flags = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

const flag = (ctx: Context, field: string): boolean => {
  const value = flags.get(parameter(ctx, field) ?? 'false');
  if (value === undefined) throw new CodedError('invalid_field', `${field} is 1, true, 0 or false.`, { field });
  return value;
};

/** Streams as HLS: a session for a source, and what it makes of it. */
export const streamRoutes = (sessions: Sessions): Routes => ({
  'GET /api/rtmp/session': async (ctx) => {
    const raw = parameter(ctx, 'source');
    if (!raw) throw new CodedError('missing_field', 'source is required: the URL of a stream.', { field: 'source' });
    const source = parseSource(raw, flag(ctx, 'disableAudio'));
    const session = await sessions.open(source);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      key: source.key,
      playlistUrl: `/api/rtmp/streams/${source.key}/index.m3u8`,
      disableAudio: source.disableAudio,
      ...session.status(),
    } satisfies RtmpSession;
  },

  'GET /api/rtmp/streams/:key/index.m3u8': (ctx) => {
    const manifest = sessions.find(ctx.params['key'] ?? '').manifest();
    if (manifest === null) throw new CodedError('stream_not_ready', undefined, { headers: { 'Retry-After': '1' } });
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'application/vnd.apple.mpegurl';
    ctx.body = manifest;
  },

  'GET /api/rtmp/streams/:key/:fileName': (ctx) => {
    const segment = sessions.find(ctx.params['key'] ?? '').segment(ctx.params['fileName'] ?? '');
    if (segment === undefined) throw new CodedError('file_not_found');
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'video/mp2t';
    ctx.body = segment;
  },
});
