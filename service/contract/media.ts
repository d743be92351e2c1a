/** Uploads, and the copies of remote media. */
import { z } from 'zod';
import { sha256 } from './terms.ts';

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
