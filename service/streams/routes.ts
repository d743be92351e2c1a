import type { Content } from '../content/index.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { type RtmpSession, rtmpQuery } from '../contract/streams.ts';
import { isDeliberate } from '../http/caller.ts';
import type { RequestState, Routes } from '../http/routes.ts';
import type { Session } from './session.ts';
import type { ChoiceOf, Sessions } from './sessions.ts';
import { parseSource, type StreamSource } from './source.ts';

/** Properties of a request for a stream. */
interface Caller {
  /** The slide that shows the stream. */
  slideId: string | undefined;
  isSigned: boolean;
  /** The request cannot come from an external web page. */
  isDeliberate: boolean;
}

interface Dependencies {
  /** The streams of the content's slides; returns a new list when they change. */
  named: Content['streams'];
  /** Whether a shared secret is set: without one, any request that cannot come from an external page is allowed. */
  hasSecret: boolean;
  /** As of {@link parseSource}. */
  salt: Uint8Array;
}

/** Decides which sources a caller may open and fetch. Sources that the content names are open to every caller. */
export const createPermission = ({ named, hasSecret, salt }: Dependencies) => {
  /** The source with its sound and without, each of the address as it stands: the canonical form may be too long. */
  const bothOf = (address: string): [StreamSource, StreamSource] | null => {
    try {
      return [parseSource(address, false, salt), parseSource(address, true, salt)];
    } catch {
      return null;
    }
  };
  let streams: ReturnType<Content['streams']> | undefined;
  let urls: ReadonlySet<string> = new Set();
  let keys: ReadonlySet<string> = new Set();
  /** Of the sources with the sound that their slides choose. */
  let chosen: ReadonlySet<string> = new Set();
  /** As the content has them, with user and password, by slide and public address. */
  let own: ReadonlyMap<string, string> = new Map();
  const keyOf = (slideId: string, publicUrl: string): string => `${slideId}\n${publicUrl}`;

  const read = (): void => {
    const current = named();
    if (streams === current) return;
    const sources = current.flatMap(({ slideId, address, isMuted }) => {
      const both = bothOf(address);
      return both === null ? [] : [{ slideId, address, both, source: both[0], choice: both[isMuted ? 1 : 0] }];
    });
    urls = new Set(sources.map(({ source }) => source.url));
    keys = new Set(sources.flatMap(({ both }) => both.map(({ key }) => key)));
    chosen = new Set(sources.map(({ choice }) => choice.key));
    own = new Map(sources.map(({ slideId, address, source }) => [keyOf(slideId, source.publicUrl), address]));
    streams = current;
  };

  /**
   * The source to open: for a slide that the content has, its own, with the user and password that pages are not told.
   * @throws CodedError `invalid_field`, `source_not_allowed`, `origin_refused`
   */
  const sourceFor = (address: string, disableAudio: boolean, caller: Caller): StreamSource => {
    const { slideId, isSigned, isDeliberate } = caller;
    const asked = parseSource(address, disableAudio, salt);
    read();
    const whole = slideId === undefined ? undefined : own.get(keyOf(slideId, asked.url));
    if (whole !== undefined) return parseSource(whole, disableAudio, salt);
    if (isSigned || urls.has(asked.url)) return asked;
    if (hasSecret) throw new CodedError('source_not_allowed');
    if (isDeliberate) return asked;
    const message =
      'The content names no such stream, and this may be a request of another web page; a program that sends the headers ' +
      'of a browser adds one that begins with x-signage-.';
    throw new CodedError('origin_refused', message);
  };

  return {
    sourceFor,
    /** Whether a caller may fetch the stream with this key. */
    mayFetch: (key: string, { isSigned }: Pick<Caller, 'isSigned'>): boolean => {
      if (isSigned || !hasSecret) return true;
      read();
      return keys.has(key);
    },
    choiceOf: ((key) => {
      read();
      if (chosen.has(key)) return 'slide';
      return keys.has(key) ? 'other' : null;
    }) satisfies ChoiceOf,
  };
};
export type Permission = ReturnType<typeof createPermission>;

const isSigned = ({ bodySha256, isPage }: RequestState): boolean => bodySha256 !== null && !isPage;

/** HLS routes: open a session for a source, get its manifest and segments. */
export const streamRoutes = (sessions: Sessions, permission: Permission): Routes => {
  const find = (key: string, state: RequestState): Session => {
    if (sessions.has(key) && !permission.mayFetch(key, { isSigned: isSigned(state) })) {
      throw new CodedError('source_not_allowed');
    }
    return sessions.find(key);
  };

  return {
    'GET /api/rtmp/session': async (ctx) => {
      // An empty address counts as missing.
      const query = readFields(rtmpQuery, { ...ctx.query, source: ctx.query['source'] || null });
      const { slide: slideId, disableAudio } = query;
      const source = permission.sourceFor(query.source, disableAudio === '1' || disableAudio === 'true', {
        slideId,
        isSigned: isSigned(ctx.state),
        isDeliberate: isDeliberate(ctx.req),
      });
      const session = await sessions.open(source, permission.choiceOf);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = {
        key: source.key,
        playlistUrl: `/api/rtmp/streams/${source.key}/index.m3u8`,
        disableAudio: source.disableAudio,
        ...session.status(),
      } satisfies RtmpSession;
    },

    'GET /api/rtmp/streams/:key/index.m3u8': (ctx) => {
      const manifest = find(ctx.params['key'] ?? '', ctx.state).manifest();
      if (manifest === null) throw new CodedError('stream_not_ready', undefined, { headers: { 'Retry-After': '1' } });
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/vnd.apple.mpegurl';
      ctx.body = manifest;
    },

    'GET /api/rtmp/streams/:key/:fileName': (ctx) => {
      const segment = find(ctx.params['key'] ?? '', ctx.state).segment(ctx.params['fileName'] ?? '');
      if (segment === undefined) throw new CodedError('file_not_found');
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'video/mp2t';
      ctx.body = segment;
    },
  };
};
