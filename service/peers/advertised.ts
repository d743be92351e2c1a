import { isIP, isIPv6 } from 'node:net';
import { bareHost, isSiteAddress, isThisMachine, needsZone, unmapped } from '../domain/network-scope.ts';
import { isBaseUrl } from '../platform/options/index.ts';

/** A socket's address as a URL has it; null where no URL can (RFC 6874: a zone). */
export const hostOf = (address: string): string | null => {
  const plain = unmapped(address);
  if (!isIPv6(plain)) return plain || null;
  return plain.includes('%') || needsZone(plain) ? null : `[${plain}]`;
};

/**
 * The address by which to tell others of a box: the one that answers rather than a name, which may mean somebody else
 * there than here, and is not followed. By https it is the name that counts.
 * @param host that answers there
 */
export const placeToTell = (url: string, host: string | null): string => {
  const place = new URL(url);
  if (host === null || place.protocol !== 'http:' || isIP(bareHost(place.hostname)) > 0) return url;
  place.hostname = host;
  return place.href.replace(/\/$/, '');
};

/**
 * Where to look for a box that a peer told of; null: nowhere. Without a secret anybody may be that peer, and nobody may
 * send a box where he likes: only an address of a site is followed, without a path, as no name tells where it leads. One
 * of this machine means another machine there than here, but where the peer answers on this machine himself.
 * @param teller the base URL of the peer
 */
export const placeTold = (url: string, teller: string): string | null => {
  if (!isBaseUrl(url)) return null;
  const { origin, hostname, pathname } = new URL(url);
  const isOurs = isThisMachine(hostname) ? isThisMachine(new URL(teller).hostname) : isSiteAddress(hostname);
  return isOurs && pathname === '/' ? origin : null;
};
