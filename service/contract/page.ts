/** What a page is given as it is served, and how it says who it is. */
import { z } from 'zod';
import { instant } from './terms.ts';

/** Where no secret is set pages need no token, and all three are null. */
export const pageToken = z
  .object({
    token: z.string().nullable().describe('a JWT (HS256)'),
    issuedAt: instant.nullable(),
    expiresAt: instant.nullable(),
  })
  .meta({ id: 'PageToken' });

/** The header that a page sends its token in. */
export const pageAuthHeader = 'x-signage-page-auth';

/**
 * The header of a page that has no token. It shows, as any header that begins with `x-signage-` does, that a request does
 * not come from a web page of others, which can have a browser send none.
 */
export const pageHeader = 'x-signage-page';

/** What the service writes into every page that it serves. */
export interface PageBoot {
  /** Null where no secret is set. */
  pageToken: { token: string; issuedAt: string; expiresAt: string } | null;
}

/** Further, into the landing page. */
export interface LandingBoot extends PageBoot {
  /** As in {@link LandingMessage}. */
  formUrl: string | null;
  /** The service listens on this machine alone. */
  isLocal: boolean;
}

/** Further, into the page of an address that leads nowhere. */
export interface MissingBoot extends PageBoot {
  /** The first few screens that there are. */
  screens: readonly { slug: string; name: string }[];
}

/** Further, into the player page. */
export interface PlayerBoot extends PageBoot {
  slug: string;
  /** IANA name of the zone that schedules are in. */
  timeZone: string;
}
