/** The media of the site: `/console/api/media`. */
import { z } from 'zod';
import { uploadResult } from '../media.ts';
import { instant } from '../terms.ts';

export const listedMedium = uploadResult
  .extend({
    width: z.int().positive().nullable().describe('pixels; null: not known, or none'),
    height: z.int().positive().nullable().describe('pixels; null: not known, or none'),
    duration_seconds: z.number().nonnegative().nullable().describe('null: not known, or none'),
    modified_at: instant.describe('when the file was last written'),
    used_by: z.array(z.string()).describe('ids of the slides in the playing content that name it'),
  })
  .meta({ id: 'ListedMedium' });

export const mediaList = z
  .object({
    media: z
      .array(listedMedium)
      .describe('by name; a file that was put into a folder by hand is listed once it has been read'),
    used_bytes: z.int().nonnegative().describe("uploads, copies of remote media and peers' media together"),
    quota_bytes: z.int().nonnegative().describe('limit of used_bytes (SIGNAGE_MEDIA_QUOTA_BYTES)'),
  })
  .meta({ id: 'MediaList' });
export type MediaList = z.infer<typeof mediaList>;
