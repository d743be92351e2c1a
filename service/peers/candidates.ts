/** Candidate addresses of boxes, from DNS-SD, static settings, other boxes and their requests. */
import { type Addresses, isAnswering } from './addresses.ts';
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
  const addCandidate: Registry['addCandidate'] = (url, source) => {
    const address = addresses.add(url, source, monotonicNow(), random());
    if (address === undefined) return;
    address.leaving = false;
    const isContact = source === 'contact';
    if (isOpen(address.breaker)) {
      const retryAt = isContact ? 0 : Math.min(address.breaker.retryAt, monotonicNow());
      address.breaker = { ...address.breaker, retryAt };
    }
    const isStranger = address.source === 'contact' && address.nodeId === null;
    if (isContact && !isStranger && !isAnswering(address)) void prober.attempt(address, 'contact');
    prober.tick();
  };

  return {
    addCandidate,
    goodbye: (url) => {
      const address = addresses.get(url);
      if (address === undefined) return;
      address.leaving = true;
      void prober.ask(address);
    },
    onContact: (from, host, fromPort, hasNews, fromInstance = instance) => {
      const url = `http://${host}:${fromPort}`;
      if (from === self && fromInstance !== instance) addCandidate(url, 'contact');
      if (from === self) return;
      const best = addresses.best(from);
      const isAlive = best !== undefined && !isOpen(best.breaker);
      if (isAlive && hasNews) void prober.ask(best);
      // A box that starts has news, and may have left its previous address.
      if (!isAlive || (hasNews && addresses.get(url) === undefined)) addCandidate(url, 'contact');
    },
  };
};
