/** How a kiosk shows a page of others: as its slide says it, and as the player's page asks the kiosk for it. */
import { z } from 'zod';
import { secretName } from './console/secrets.ts';
import { pageUrl } from './content-terms.ts';

const CSS_BYTES = 16_384;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

export const sessionName = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, '1 to 64 of a-z, 0-9 and -')
  .describe('name of a session');

/** Of pages that are loaded; a slide has further fields that its page itself carries out. */
export const webLook = {
  zoom: z.number().min(0.25).max(5).optional().describe('size of the page; default: 1'),
  scroll: z.number().optional().describe('pixels a second that it moves, at most 2000 either way; default: 0'),
  css: z
    .string()
    .max(CSS_BYTES, 'at most 16 KiB')
    .refine((css) => bytesOf(css) <= CSS_BYTES, 'at most 16 KiB')
    .optional()
    .describe('style sheet that is added to the page'),
  headers: secretName.optional().describe('name of the secret whose headers its requests get, in kiosks alone'),
  session: sessionName
    .optional()
    .describe(
      'name under which each kiosk keeps the cookies and the storage of the page, in which somebody signs in on its maintenance page',
    ),
  signed_in_at: pageUrl
    .optional()
    .describe(
      'address that begins like that of the page once somebody is signed in; default: the origin of the slide. A page that ends elsewhere, or asks for a password, is signed out',
    ),
};
