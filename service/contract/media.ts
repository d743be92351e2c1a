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

export const renameRequest = z
  .object({ to: z.string().describe('the new name; it keeps the media type, so `.jpg` may become `.jpeg`') })
  .meta({ id: 'RenameRequest' });

export const copyParams = z.object({ sha256: sha256.describe('SHA-256 of the copy, hex') });

export const copyQuery = z.object({
  url: z.string().describe("the medium's http(s) address"),
  sha256: z.string().optional().describe('the copy that is already playing, in case it was replaced or converted'),
});

/** Response header: how the rendition that is sent instead of an original was made. */
export const renditionHeader = 'x-signage-rendition';

/** Response header: how loud the sound of a medium is, LUFS (EBU R 128); pages play it at -23 LUFS, and never louder than it is. */
export const loudnessHeader = 'x-signage-loudness';

export const mediumQuery = z.object({
  original: z.string().optional().describe('if present, the file as it was uploaded is sent, and no rendition'),
});

export const renditionStatus = z
  .object({
    state: z
      .enum(['none', 'queued', 'converting', 'ready', 'failed'])
      .describe('none: browsers show the original; queued: it is to be read, converted or fetched'),
    progress: z.number().min(0).max(1).describe('of the conversion'),
    reason: z.string().nullable().describe('why it failed or has to wait, a sentence; null: neither'),
    size: z.int().nonnegative().nullable().describe('bytes; null: it is not ready'),
  })
  .meta({ id: 'RenditionStatus', description: 'what is shown instead of an original that browsers show badly' });
export type RenditionStatus = z.infer<typeof renditionStatus>;

export const renditionParams = z.object({ sha256: sha256.describe('SHA-256 of the rendition, hex') });

export const listedMedium = uploadResult
  .extend({
    width: z.int().positive().nullable().describe('pixels; null: not known, or none'),
    height: z.int().positive().nullable().describe('pixels; null: not known, or none'),
    duration_seconds: z.number().nonnegative().nullable().describe('null: not known, or none'),
    codec: z
      .string()
      .nullable()
      .describe('of a film or sound, as ffmpeg calls it; of a picture or document its format; null: not known'),
    codec_profile: z.string().nullable().describe('of a film, as ffmpeg calls it; null: not known, or none'),
    frame_rate: z.number().nullable().describe('of a film, frames a second; null: not known, or none'),
    loudness: z.number().nullable().describe('of the sound, LUFS (EBU R 128); null: not known, or none'),
    peak: z.number().nullable().describe('of the sound, dBFS; null: not known, or none'),
    rendition: renditionStatus,
    modified_at: instant.describe('when the file was last written'),
    used_by: z
      .array(z.string())
      .describe('ids of the slides that name it, in the playing content and of takeovers that are on or still to come'),
    in_drafts: z.array(z.string()).optional().describe('titles of the drafts that name it; absent: there are none'),
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
