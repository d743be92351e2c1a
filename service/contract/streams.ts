/** Sessions that turn a live source into HLS. */
import { z } from 'zod';

export const rtmpQuery = z.object({
  source: z.string().describe('rtmp, rtmps, rtsp, rtsps or srt URL'),
  slide: z
    .string()
    .optional()
    .describe('id of the slide that shows it; its own user and password are used, which the playlist does not hold'),
  disableAudio: z.enum(['1', 'true', '0', 'false']).optional().describe('default: false'),
});

export const rtmpSession = z
  .object({
    key: z
      .string()
      .regex(/^[0-9a-f]{16}$/)
      .describe('the same for the same source and audio choice'),
    playlistUrl: z.string().describe('path of the HLS manifest'),
    disableAudio: z.boolean().describe('the stream has no sound'),
    ready: z.boolean().describe('the manifest can be fetched'),
    live: z.boolean().describe('media is arriving'),
  })
  .meta({ id: 'RtmpSession' });
export type RtmpSession = z.infer<typeof rtmpSession>;
