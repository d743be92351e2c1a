/** Whether an external page can be shown in a frame. */
import { z } from 'zod';

export const frameQuery = z.object({
  url: z.url().max(4096).describe('the address of a web slide, or one that a redirect named'),
  origin: z.url().max(512).describe('the origin of the page that the frame is to be in'),
});

export const frameVerdict = z
  .object({
    url: z.string().describe('the address that was judged'),
    framable: z.boolean().describe('false: browsers would show nothing'),
    reason: z.string().nullable().describe('why not, as a clause about the page'),
  })
  .meta({ id: 'FrameVerdict' });
export type FrameVerdict = z.infer<typeof frameVerdict>;
