/** Candidate addresses of boxes, from DNS-SD, static settings, other boxes and their requests. */
import { type Addresses, type AddressOrigin, isAnswering } from './addresses.ts';
import { isOpen } from './breaker.ts';
import type { Registry } from './peer.ts';
import type { Prober } from './prober.ts';

interface Dependencies {
  /** The node id of this box. */
  self: string;
  /** Id of this start of the service. */
  instance: string;
  addresses: Pick<Addresses, 'add' | 'get' | 'best'>;
  prober: Pick<Prober, 'ask' | 'attempt' | 'tick'>;
  monotonicNow(): number;
  random(): number;
}

type Candidates = Pick<Registry, 'addCandidate' | 'goodbye' | 'onContact'>;

export const createCandidates = ({
  self,
  instance,
  addresses,
  prober,
  monotonicNow,
  random,
}: Dependencies): Candidates => {
  /** @param from the node id of the box that made contact */
  const add = (url: string, source: AddressOrigin, from: string | null): void => {
    const address = addresses.add(url, source, monotonicNow(), random());
    if (address === undefined) return;
    address.leaving = false;
    if (isOpen(address.breaker)) {
      const retryAt = from !== null ? 0 : Math.min(address.breaker.retryAt, monotonicNow());
      address.breaker = { ...address.breaker, retryAt };
    }
    const isStranger = address.source === 'contact' && address.nodeId === null;
    const isKnown = isAnswering(address) && address.nodeId === from;
    if (from !== null && !isStranger && !isKnown) void prober.attempt(address, 'contact');
    prober.tick();
  };

  return {
    addCandidate: (url, source) => add(url, source, null),
    goodbye: (url) => {
      const address = addresses.get(url);
      if (address === undefined) return;
      address.leaving = true;
      void prober.ask(address);
    },
    onContact: (from, host, fromPort, hasNews, fromInstance = instance) => {
      const url = `http://${host}:${fromPort}`;
      if (from === self && fromInstance !== instance) add(url, 'contact', from);
      if (from === self) return;
      const best = addresses.best(from);
      const isAlive = best !== undefined && !isOpen(best.breaker);
      if (isAlive && hasNews) void prober.ask(best);
      // A box that starts has news, and may have left its previous address.
      if (!isAlive || (hasNews && addresses.get(url) === undefined)) add(url, 'contact', from);
    },
  };
};
