/** "Show now": every page of a screen goes to a slide. */
import { z } from 'zod';
import { slug } from './terms.ts';

const slideId = z.string().min(1).max(500).describe('id of a slide that the screen plays now or within days');

export const showRequest = z.object({ slide_id: slideId }).meta({ id: 'ShowRequest' });

const sent = z.int().nonnegative().max(10_000).describe('connections that the message `show` was written to');

export const showResult = z
  .object({ sent, degraded: z.boolean().describe('true if a known peer did not respond within 1 s') })
  .meta({ id: 'ShowResult' });
export type ShowResult = z.infer<typeof showResult>;

export const peerShow = z.object({ slug, slideId }).meta({ id: 'PeerShow' });
export const peerShown = z.object({ sent }).meta({ id: 'PeerShown' });
