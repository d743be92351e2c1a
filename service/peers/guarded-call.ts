/**
 * Calls a peer at its best address. A call that fails is a failure of the address, so that the next ones fail
 * immediately.
 */
import { type Address, type Addresses, isBusy } from './addresses.ts';
import { isOpen } from './breaker.ts';
import type { Caller } from './call.ts';
import type { Peers } from './peer.ts';
import type { Window } from './window.ts';

interface Dependencies {
  addresses: Pick<Addresses, 'get' | 'of' | 'best'>;
  caller: Pick<Caller, 'call'>;
  window: Pick<Window, 'late'>;
  fail(address: Address, reason: string): void;
  /** Probes an address. */
  ask(address: Address): Promise<void>;
  isClosed(): boolean;
  /** ms, monotonic. */
  monotonicNow(): number;
}

export const createGuardedCall =
  ({ addresses, caller, window, fail, ask, isClosed, monotonicNow }: Dependencies): Peers['call'] =>
  async (peer, request) => {
    const { nodeId } = peer;
    const address = peer.nodeId === null ? addresses.get(peer.url) : addresses.best(peer.nodeId);
    const isCallable = address !== undefined && (nodeId === null ? address.reachable : !isOpen(address.breaker));
    if (isClosed() || !isCallable) {
      const { reason = null, late = false } = address ?? {};
      const isLate = late && !isClosed() ? ({ isLate: true } as const) : {};
      return { ok: false, status: null, answered: false, code: null, reason: reason ?? 'is not known', ...isLate };
    }
    const recipient = nodeId === null ? {} : { recipient: nodeId };
    const askedAt = monotonicNow();
    const answer = await caller.call(address.url, { ...request, ...recipient });
    if (!answer.ok && answer.isConnected === true) window.late(monotonicNow());
    if (answer.ok || answer.answered) address.answeredAt = monotonicNow();
    else if (isBusy(address, answer, askedAt)) return answer;
    if (!answer.ok) address.reachable = answer.answered;
    const isAway = !answer.ok && (answer.status === null || answer.code === 'misdirected');
    // Concurrent calls that fail count as one failure.
    if (isAway && !isClosed() && !isOpen(address.breaker)) {
      address.late = answer.isLate === true;
      fail(address, answer.reason);
      // The same box may be reachable at another address.
      for (const other of addresses.of(nodeId ?? '')) if (other !== address) void ask(other);
    }
    return answer;
  };
