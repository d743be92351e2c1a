import { z } from 'zod';

/** An error or a warning about the content. */
export const contentIssue = z
  .object({
    path: z.string().describe('in content.json: `playlists[0].slides[3].duration_seconds`; empty for the whole file'),
    message: z.string().describe('begins with the title or id of the slide in quotes, if it concerns a slide'),
  })
  .meta({ id: 'ContentIssue' });
export type ContentIssue = z.infer<typeof contentIssue>;
