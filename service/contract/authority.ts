/** The authority of a site, as its operators see it. */
import { z } from 'zod';
import { instant } from './terms.ts';

export const siteRoot = z
  .object({
    fingerprint: z.string().describe('SHA-256 of the root certificate, in pairs of hex digits with colons'),
    not_before: instant,
    not_after: instant.describe('renew it 180 days before'),
    root: z.string().describe('the root certificate, PEM'),
    replaced: z.int().describe('roots of this site that were replaced; at most 20'),
  })
  .meta({ id: 'SiteRoot', description: 'the root certificate of the site' });
export type SiteRoot = z.infer<typeof siteRoot>;

/** Boot data of the page that shows people how to install the root. */
export interface TrustData {
  fingerprint: string;
  /** The address of the page for phones. */
  url: string;
  /** The QR code of it, SVG. */
  code: string;
  /** End of the root, ISO 8601. */
  notAfter: string;
}
