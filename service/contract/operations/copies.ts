/** Local copies of the remote media that the content names. */

import { z } from 'zod';
import { copyParams, copyQuery } from '../media.ts';
import { digestExample } from './examples.ts';
import { medium } from './headers.ts';
import type { Operations } from './operation.ts';

export const copies = {
  'GET /copies': {
    access: 'public',
    variant: 'baseline',
    summary: 'Get the local copy of a remote medium',
    description: 'Only for media that the content names. Supports ranges and validators (RFC 9110).',
    query: copyQuery,
    answer: {
      ...medium('The copy, under the media type that its bytes have.'),
      302: {
        description: 'There is no copy yet.',
        headers: { Location: { description: 'The remote address itself', schema: z.string(), required: true } },
      },
    },
    errors: ['address_withheld', 'file_not_found', 'precondition_failed', 'range_not_satisfiable'],
    examples: { url: 'https://cdn.example.com/film.mp4' },
  },
  'GET /copies/:sha256': {
    access: 'public',
    summary: 'Get a local copy by its hash',
    description: 'Used by the other boxes of the site. Supports ranges and validators (RFC 9110).',
    params: copyParams,
    answer: medium('The copy, under the media type that its bytes have.'),
    errors: ['file_not_found', 'precondition_failed', 'range_not_satisfiable'],
    examples: { sha256: digestExample },
  },
} as const satisfies Operations;
