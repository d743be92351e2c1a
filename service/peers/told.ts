import { isBaseUrl } from '../options.ts';
import { isSiteAddress, isThisMachine } from '../outbound/networks.ts';

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
