/** Uploads, and the copies of remote media. */
import { z } from 'zod';
import { instant, sha256 } from './terms.ts';

export const mediaConfig = z
  .object({
    uploadDir: z.string().describe('where uploads are written'),
    mediaDir: z.string().describe("where copies of remote and peers' media are stored"),
  })
  .meta({ id: 'MediaConfig' });
export type MediaConfig = z.infer<typeof mediaConfig>;

export const uploadResult = z
  .object({
    filename: z.string().describe('name of the file'),
    size: z.int().describe('bytes'),
    sha256: sha256.describe('SHA-256 of the file, lower-case hex'),
    url: z.string().describe('the path that serves the file'),
    media_type: z.string().describe('the RFC 6838 media type that the file is served under'),
  })
  .meta({ id: 'UploadResult' });
export type UploadResult = z.infer<typeof uploadResult>;

export const copyParams = z.object({ sha256: sha256.describe('SHA-256 of the copy, hex') });

export const copyQuery = z.object({
  url: z.string().describe("the medium's http(s) address"),
  sha256: z.string().optional().describe('the copy that is already playing, in case it was replaced'),
});

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
