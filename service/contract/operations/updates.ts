/** Releases that a box hands to the other boxes of its site. */
import { z } from 'zod';
import { entityTag, file } from './headers.ts';
import type { Operations } from './operation.ts';

export const updates = {
  'GET /updates/:filename': {
    access: 'public',
    summary: 'Get a file of the signed release that this box has downloaded',
    description: 'The metadata, the signature or the installer. The receiver checks the signature.',
    params: z.object({ filename: z.string().describe('Name of the file.') }),
    answer: {
      ...file('The file.'),
      206: { ...file('A range of the file.')[200], headers: entityTag },
      304: { description: 'The file is the one that If-None-Match or If-Modified-Since names.' },
    },
    errors: ['not_found', 'precondition_failed', 'range_not_satisfiable'],
    examples: { filename: 'latest-linux.yml' },
  },
} as const satisfies Operations;
