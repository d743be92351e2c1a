/** The members that this box reaches, as it reports them to other boxes. */
import { mostPeers, mostPeersOfOlder } from '../contract/peers.ts';
import { shuffled } from '../domain/shuffle.ts';
import type { Addresses } from './addresses.ts';
import { advertisedUrl } from './advertised.ts';
import { isOpen } from './breaker.ts';
import type { Report } from './indirect-reports.ts';
import type { LivePeer, Registry } from './peer.ts';
import type { Suspicions } from './suspicions.ts';

interface Dependencies {
  addresses: Pick<Addresses, 'best' | 'get'>;
  reports: ReadonlyMap<string, Report>;
  suspicions: Pick<Suspicions, 'isPending'>;
  alive(): LivePeer[];
  random(): number;
}

export const createMembers = ({
  addresses,
  reports,
  suspicions,
  alive,
  random,
}: Dependencies): Pick<Registry, 'advertised' | 'reached' | 'entry'> => {
  const isReached = (nodeId: string): boolean => {
    const best = addresses.best(nodeId);
    return best !== undefined && (!isOpen(best.breaker) || suspicions.isPending(nodeId));
  };
  const urlOf = (url: string): string => advertisedUrl(url, addresses.get(url)?.host ?? null);

  return {
    advertised: (isOlder) => {
      const live = alive();
      const chosen = isOlder && live.length > mostPeersOfOlder ? shuffled(live, random) : live;
      return chosen
        .slice(0, isOlder ? mostPeersOfOlder : mostPeers)
        .map(({ nodeId, url }) => ({ nodeId, url: urlOf(url) }));
    },
    reached: () =>
      new Map([...reports].flatMap(([nodeId, { seq }]) => (isReached(nodeId) ? [[nodeId, seq] as const] : []))),
    entry: (nodeId) => {
      const [report, best] = [reports.get(nodeId), addresses.best(nodeId)];
      if (report === undefined || best === undefined || !isReached(nodeId)) return null;
      return [nodeId, urlOf(best.url), report.seq];
    },
  };
};
