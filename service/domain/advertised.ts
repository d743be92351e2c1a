/** What boxes advertise by DNS-SD (RFC 6763). */
import { isIPv4 } from 'node:net';
import { isSiteAddress } from './network-scope.ts';

/** The service type, `_signage-player._tcp`. */
export const serviceType = 'signage-player';

/** Addresses used per advertisement. */
const MAX_ADDRESSES = 4;

interface Advertisement {
  /** The sender of the packet. */
  referer?: { address: string };
  addresses?: readonly string[];
  port: number;
}

/**
 * Candidate URLs of an advertised service: the address that sent the advertisement and, since that may be a reflector,
 * the advertised addresses. Advertised addresses outside the site are dropped, or an advertisement could direct requests
 * at a server in the Internet.
 */
export const advertisedUrls = ({ referer, addresses = [], port }: Advertisement): string[] =>
  [
    ...new Set([
      ...(referer === undefined ? [] : [referer.address]),
      ...addresses.filter((each) => isIPv4(each) && isSiteAddress(each)),
    ]),
  ]
    .slice(0, MAX_ADDRESSES)
    .map((address) => `http://${address}:${port}`);
