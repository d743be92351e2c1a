/** The media of the site, as a person chooses among them. */
import { mediaList } from '../../console/media.ts';
import { digestExample, momentExample } from '../examples.ts';
import { type Operations, ok } from '../operation.ts';

export const media = {
  'GET /console/api/media': {
    access: 'signed',
    variant: 'extended',
    setting: 'console',
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
    errors: [],
  },
} as const satisfies Operations;
