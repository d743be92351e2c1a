import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { type RtmpSession, rtmpQuery } from '../contract/streams.ts';
import { isDeliberate } from '../http/caller.ts';
import type { Routes } from '../http/routes.ts';
import type { Sessions } from './sessions.ts';
import { parseSource, type StreamSource } from './source.ts';

/** Properties of a request for a stream. */
interface Caller {
  /** The request is signed. */
  isSigned: boolean;
  /** The request cannot come from an external web page. */
  isDeliberate: boolean;
}

interface Dependencies {
  /** The stream addresses in the content; returns a new set when they change. */
  named(): ReadonlySet<string>;
  /** Whether a shared secret is set: without one, any request that cannot come from an external page is allowed. */
  hasSecret: boolean;
}

const canonical = (address: string): string | null => {
  try {
    return parseSource(address, false).url;
  } catch {
    return null;
  }
};

/** Decides which sources a caller may open. Sources that the content names are open to every caller. */
export const createPermission = ({ named, hasSecret }: Dependencies) => {
  let addresses: ReadonlySet<string> = new Set();
  let urls: ReadonlySet<string | null> = new Set();

  const isNamed = ({ url }: StreamSource): boolean => {
    if (addresses !== named()) {
      addresses = named();
      urls = new Set([...addresses].map(canonical));
    }
    return urls.has(url);
  };

  /** @throws CodedError `source_not_allowed`, `origin_refused` */
  return (source: StreamSource, { isSigned, isDeliberate }: Caller): void => {
    if (isSigned || isNamed(source)) return;
    if (hasSecret) throw new CodedError('source_not_allowed');
    if (isDeliberate) return;
    const message =
      'The content names no such stream, and this may be a request of another web page; a program that calls itself ' +
      'Mozilla adds a header that begins with x-signage-.';
    throw new CodedError('origin_refused', message);
  };
};
export type Permission = ReturnType<typeof createPermission>;

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
