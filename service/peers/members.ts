/** The members that this box reaches, as it reports them to other boxes. */
import { mostPeers } from '../contract/peers.ts';
import type { Address, Addresses } from './addresses.ts';
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
}

export const createMembers = ({
  addresses,
  reports,
  suspicions,
  alive,
}: Dependencies): Pick<Registry, 'advertised' | 'reached' | 'entry'> => {
  /** Where a box is reached; undefined: it is away, or unknown. */
  const reachedAt = (nodeId: string): Address | undefined => {
    const best = addresses.best(nodeId);
    return best !== undefined && (!isOpen(best.breaker) || suspicions.isPending(nodeId)) ? best : undefined;
  };

  return {
    advertised: () =>
      alive()
        .slice(0, mostPeers)
        .map(({ nodeId, url }) => ({ nodeId, url: advertisedUrl(url, addresses.get(url)?.host ?? null) })),
    reached: () =>
      new Map([...reports].flatMap(([nodeId, { seq }]) => (reachedAt(nodeId) ? [[nodeId, seq] as const] : []))),
    entry: (nodeId) => {
      const [report, address] = [reports.get(nodeId), reachedAt(nodeId)];
      if (report === undefined || address === undefined) return null;
      return [nodeId, advertisedUrl(address.url, address.host), report.seq];
    },
  };
};
