import { z } from 'zod';

/** An error or a warning about the content. */
export const contentIssue = z
  .object({
    path: z.string().describe('in content.json: `playlists[0].slides[3].duration_seconds`; empty for the whole file'),
    message: z.string().describe("begins with the slide's title or id in quotes where it is about a slide"),
  })
  .meta({ id: 'ContentIssue' });
export type ContentIssue = z.infer<typeof contentIssue>;
