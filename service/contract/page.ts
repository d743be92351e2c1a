/** Boot data of pages, and the headers that authenticate their requests. */
import { z } from 'zod';
import type { TrustData } from './authority.ts';
import { instant } from './terms.ts';

/** Without a secret pages need no token, and all fields are null. */
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
 * Header of a page without a token. Like every header that begins with `x-signage-`, it proves that the request does not
 * come from another origin: a browser would not send it without a CORS preflight.
 */
export const pageHeader = 'x-signage-page';

export interface PageBoot {
  /** Null: no secret is set. */
  pageToken: { token: string; issuedAt: string; expiresAt: string } | null;
  /** The box that served the page. */
  nodeId: string;
  /** The box's clock when it served the page, ms since the epoch; proofs of the device are dated by it. */
  time: number;
  /** Whether that box is of the baseline variant, which its pages ask for nothing that only the extended one has; absent: no. */
  isBaseline?: true;
}

export interface LandingBoot extends PageBoot {
  /** As in {@link LandingMessage}. */
  formUrl: string | null;
  /** The URL of the form on this machine, where the service listens on loopback alone; else null. */
  localFormUrl: string | null;
}

/** Boot data of the page for an unknown address. */
export interface MissingBoot extends PageBoot {
  /** The first few screens of the content. */
  screens: readonly { slug: string; name: string }[];
}

/** Boot data of the page that shows how to install the root certificate of the site. */
export interface TrustBoot extends PageBoot, TrustData {}

/** Boot data of the console. It holds no data of the site. */
export interface ConsoleBoot extends PageBoot {
  /** IANA time zone of the schedules. */
  timeZone: string;
  /** Whether requests must be signed. */
  hasSecret: boolean;
  /** Whether people can sign in with the provider of the house. */
  hasSignOn: boolean;
  /** The address of the console over https, under the host of the request; null: the box does not answer there. */
  secureUrl: string | null;
  /** The address of the console over http, under the host of the request. */
  plainUrl: string | null;
}

export const previewQuery = z.object({
  elsewhere: z.enum(['on', 'off']).default('on').describe('off: it loads nothing from other hosts'),
});

/** Boot data of the preview in the console. */
export interface PreviewBoot extends PageBoot {
  /** IANA time zone of the schedules. */
  timeZone: string;
}

/** Boot data of the player page. */
export interface PlayerBoot extends PreviewBoot {
  slug: string;
  /** Of the service that served the page. */
  version: string;
}
