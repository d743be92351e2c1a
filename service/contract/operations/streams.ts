/** Live sources as HLS. */
import { z } from 'zod';
import { rtmpQuery, rtmpSession } from '../streams.ts';
import { file, type Operations, ok } from './operation.ts';

const key = z.string().describe('Key of the session.');
const keyExample = '3b1f0c9d8e7a6b5c';

export const streams = {
  'GET /api/rtmp/session': {
    role: 'viewer',
    access: 'signed or page',
    acts: true,
    summary: 'Create or reuse the HLS session of a live source',
    description:
      'Answers at once; `ready` says that the manifest can be fetched. A session ends when nothing of it was fetched for the idle time. A page token opens, and fetches, only sources that the content names; so does a request without a secret that may come from a web page of others, which has a `User-Agent` of `Mozilla/` and no `Origin`, `Referer`, `Sec-Fetch-Site` or header that begins with `x-signage-`.',
    query: rtmpQuery,
    answer: ok('The session.', rtmpSession, {
      key: keyExample,
      playlistUrl: `/api/rtmp/streams/${keyExample}/index.m3u8`,
      disableAudio: false,
      ready: false,
      live: false,
    }),
    errors: ['source_not_allowed', 'too_many_streams', 'ffmpeg_unavailable'],
    examples: { source: 'rtmp://camera.example.com/live/door' },
  },
  'GET /api/rtmp/streams/:key/index.m3u8': {
    role: 'viewer',
    access: 'signed or page',
    summary: 'Get the HLS playlist of a session',
    params: z.object({ key }),
    answer: {
      200: {
        description: 'The manifest (RFC 8216).',
        content: {
          'application/vnd.apple.mpegurl': {
            schema: z.string(),
            example: '#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXTINF:2.000,\n0.ts\n',
          },
        },
      },
    },
    errors: ['source_not_allowed', 'session_not_found', 'stream_not_ready'],
    examples: { key: keyExample },
  },
  'GET /api/rtmp/streams/:key/:fileName': {
    role: 'viewer',
    access: 'signed or page',
    summary: 'Get a segment of a session',
    params: z.object({ key, fileName: z.string().describe('Name of the segment, as the manifest has it.') }),
    answer: file('The segment (MPEG-TS).', 'video/mp2t'),
    errors: ['source_not_allowed', 'session_not_found', 'file_not_found'],
    examples: { key: keyExample, fileName: '0.ts' },
  },
} as const satisfies Operations;
