/** Web slides: whether a page can be shown in a frame. */
import { frameQuery, frameVerdict } from '../frames.ts';
import { type Operations, ok } from './operation.ts';

export const frames = {
  'GET /api/frames': {
    access: 'signed or page',
    variant: 'extended',
    acts: true,
    summary: 'Get whether a page can be shown in a frame',
    description:
      'Judges by the headers of the page’s answer, as browsers do. A page that does not answer counts as framable.',
    query: frameQuery,
    answer: ok('The verdict.', frameVerdict, {
      url: 'https://example.com/board',
      framable: false,
      reason: 'it forbids frames by its content security policy (frame-ancestors)',
    }),
    errors: [],
    examples: { url: 'https://example.com/board', origin: 'http://192.168.1.20:8080' },
  },
} as const satisfies Operations;
