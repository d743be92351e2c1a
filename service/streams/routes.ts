import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { type RtmpSession, rtmpQuery } from '../contract/streams.ts';
import { isDeliberate } from '../http/caller.ts';
import type { Routes } from '../http/routes.ts';
import type { Permission } from './permission.ts';
import type { Sessions } from './sessions.ts';
import { parseSource } from './source.ts';

/** HLS routes: open a session for a source, get its manifest and segments. */
export const streamRoutes = (sessions: Sessions, permit: Permission): Routes => ({
  'GET /api/rtmp/session': async (ctx) => {
    // An empty address counts as missing.
    const { source: url, disableAudio } = readFields(rtmpQuery, { ...ctx.query, source: ctx.query['source'] || null });
    const source = parseSource(url, disableAudio === '1' || disableAudio === 'true');
    permit(source, { isSigned: ctx.state.bodySha256 !== null, isDeliberate: isDeliberate(ctx.req) });
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
