/** Local copies of the remote media that the content names. */

import { z } from 'zod';
import { copyQuery } from '../media.ts';
import { medium } from './headers.ts';
import type { Operations } from './operation.ts';

export const copies = {
  'GET /copies': {
    access: 'public',
    variant: 'baseline',
    summary: 'Get the local copy of a remote medium',
    description: 'Only of what the content names; with ranges and validators (RFC 9110).',
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
} as const satisfies Operations;
