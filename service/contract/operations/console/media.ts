/** The media of the site, as a person chooses among them. */
import { z } from 'zod';
import { mediaList } from '../../console/media.ts';
import { digestExample, momentExample } from '../examples.ts';
import { entityTag, unchanged } from '../headers.ts';
import { type Operations, ok } from '../operation.ts';

export const media = {
  'GET /console/api/media': {
    summary: 'List the media',
    answer: ok('The list.', mediaList, {
      media: [
        {
          filename: 'hall.jpg',
          size: 482113,
          sha256: digestExample,
          url: '/media/hall.jpg',
          media_type: 'image/jpeg',
          width: 3840,
          height: 2160,
          duration_seconds: null,
          modified_at: momentExample,
          used_by: ['welcome-1'],
        },
      ],
      used_bytes: 731906048,
      quota_bytes: 68719476736,
    }),
  },
  'GET /console/api/media/:filename/thumbnail': {
    acts: true,
    summary: 'Get a small picture of a medium',
    description: 'The longest side has 640 pixels; of a video it is a frame of its first second.',
    params: z.object({ filename: z.string().describe('Name of the file, percent-encoded.') }),
    answer: {
      200: {
        description: 'The picture.',
        headers: entityTag,
        content: { 'image/jpeg': { schema: z.string().meta({ format: 'binary' }) } },
      },
      ...unchanged,
    },
    errors: ['invalid_field', 'file_not_found', 'not_found', 'too_many_requests'],
    examples: { filename: 'hall.jpg' },
  },
} as const satisfies Operations;
