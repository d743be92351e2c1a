/** Web slides: whether a page can be shown in a frame. */
import { frameQuery, frameVerdict } from '../frames.ts';
import { type Operations, ok } from './operation.ts';

export const frames = {
  'GET /api/frames': {
    access: 'signed or page',
    acts: true,
    summary: 'Check whether a page can be shown in a frame',
    description:
      'Evaluates the headers of the page’s response like a browser. A page that does not respond counts as framable.',
    query: frameQuery,
    answer: ok('The verdict.', frameVerdict, {
      url: 'https://example.com/board',
      framable: false,
      reason: 'it forbids frames by its content security policy (frame-ancestors)',
    }),
    examples: { url: 'https://example.com/board', origin: 'http://192.168.1.20:8080' },
  },
} as const satisfies Operations;
