import { isIP, isIPv6 } from 'node:net';
import { bareHost, isSiteAddress, isThisMachine, needsZone, unmapped } from '../domain/network-scope.ts';
import { isBaseUrl } from '../platform/options/index.ts';

/** The address of a socket as the host of a URL; null if it needs a zone, which browsers do not support (RFC 6874). */
export const hostOf = (address: string): string | null => {
  const plain = unmapped(address);
  if (!isIPv6(plain)) return plain || null;
  return plain.includes('%') || needsZone(plain) ? null : `[${plain}]`;
};

/**
 * The URL under which a box is advertised to other boxes: the IP address that answers in place of a host name, since the
 * name may resolve to another machine there and receivers do not accept names. An https URL keeps its name, which the
 * certificate needs.
 * @param host the address that answered
 */
export const advertisedUrl = (url: string, host: string | null): string => {
  const location = new URL(url);
  if (host === null || location.protocol !== 'http:' || isIP(bareHost(location.hostname)) > 0) return url;
  location.hostname = host;
  return location.href.replace(/\/$/, '');
};

/**
 * The origin to probe for a box that a peer advertises; null if the URL is not accepted. Without a secret any client can
 * be that peer, and must not direct requests of this box: only IP addresses of a site are accepted, without a path. A host
 * name is refused since it can resolve to any address. A loopback address is accepted only from a peer on this machine.
 * @param advertiser the base URL of the peer
 */
export const acceptedUrl = (url: string, advertiser: string): string | null => {
  if (!isBaseUrl(url)) return null;
  const { origin, hostname, pathname } = new URL(url);
  const isOurs = isThisMachine(hostname) ? isThisMachine(new URL(advertiser).hostname) : isSiteAddress(hostname);
  return isOurs && pathname === '/' ? origin : null;
};
