/** Slots for large bodies and long answers: no address takes all of them, and a transfer that stands still is ended. */
import type { ServerResponse } from 'node:http';
import { partyOf } from '../auth/throttle.ts';
import { acceptedBytes } from './connections.ts';

type Release = () => void;

interface Limits {
  /** Of one address. */
  own: number;
  /** Of all together. */
  total: number;
}

/** Answers that are read from the disk, or gathered from other boxes, while they are sent. */
export const streamedAnswers: Limits = { own: 4, total: 16 };

/** The unit is the caller's: transfers, or bytes. */
export const createTransferSlots = ({ own, total }: Limits) => {
  const held = new Map<string, number>();
  const waiting = new Set<{ party: string; resolve: (release: Release) => void }>();
  let all = 0;

  const takeFor = (party: string, units: number): Release | null => {
    const before = held.get(party) ?? 0;
    if (before + units > own || all + units > total) return null;
    held.set(party, before + units);
    all += units;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      all -= units;
      const left = (held.get(party) ?? 0) - units;
      if (left > 0) held.set(party, left);
      else held.delete(party);
      admitNext();
    };
  };

  const admitNext = (): void => {
    for (const next of waiting) {
      const release = takeFor(next.party, 1);
      if (release === null) continue;
      waiting.delete(next);
      return next.resolve(release);
    }
  };

  return {
    /** @returns null if there is no room now */
    take: (address: string, units = 1): Release | null => takeFor(partyOf(address), units),
    /** Waits for a slot; those of an address are given in the order of the calls. */
    wait: async (address: string): Promise<Release> => {
      const party = partyOf(address);
      return takeFor(party, 1) ?? new Promise((resolve) => waiting.add({ party, resolve }));
    },
  };
};

/** Acts once a response has gone out, or its client has left: one that has left already emits no 'close' any more. */
export const afterAnswer = (response: ServerResponse, act: () => void): void => {
  if (response.destroyed) act();
  else response.once('close', act);
};

/** Closes the connection of a response of which its client has read nothing for `ms`, though there is more. */
export const endIfUnread = (response: ServerResponse, ms: number): void => {
  // Its client has left before there was anything to read, and 'close' is not emitted again.
  if (response.destroyed) return;
  const { socket } = response.req;
  let accepted = acceptedBytes(socket);
  let since = performance.now();
  const timer = setInterval(() => {
    const now = acceptedBytes(socket);
    if (now !== accepted || socket.writableLength === 0) {
      accepted = now;
      since = performance.now();
    } else if (performance.now() - since >= ms) socket.destroy();
  }, ms / 10).unref();
  response.once('close', () => clearInterval(timer));
};
