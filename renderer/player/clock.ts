import type { ClockState } from '../../service/contract/socket.ts';

/**
 * Two clocks: `elapsed` is monotonic and measures how long slides are shown; `now` is the time of day by the service's
 * clock and decides which slides are on schedule, independent of the clock of the machine that shows the page.
 */
export interface Clock {
  /** Monotonic milliseconds since a fixed moment. */
  elapsed(): number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Whose clock is plausible. While it is `unset`, `now` is meaningless. */
  state(): ClockState;
  /** Adopts the service's time if it differs by more than `tolerance` ms; returns by how much `now` moved, in ms. */
  set(serverTime: number, tolerance: number): number;
}

/** If the clocks of service and page differ by more, one of them is wrong. */
const APART_MS = 60_000;

/**
 * @param builtAt when this player was built, ms since the epoch. A clock that reads an earlier time has not been set:
 *   many boxes have no battery-backed clock
 */
export const createClock = (builtAt: number): Clock => {
  const elapsed = () => performance.now();
  let offset: number | null = null;

  const serviceTime = (): number | null => (offset === null ? null : elapsed() + offset);

  const state = (): ClockState => {
    const [service, own] = [serviceTime(), Date.now()];
    if (service === null || service < builtAt) return own >= builtAt ? 'service' : 'unset';
    return Math.abs(service - own) <= APART_MS ? 'ok' : 'page';
  };

  const now = (): number => {
    const service = serviceTime();
    return service === null || state() === 'service' ? Date.now() : service;
  };

  return {
    elapsed,
    now,
    state,
    set: (serverTime, tolerance) => {
      const before = now();
      const isFirst = offset === null;
      const difference = serverTime - (serviceTime() ?? Number.NEGATIVE_INFINITY);
      if (Math.abs(difference) > tolerance) offset = serverTime - elapsed();
      return isFirst ? 0 : now() - before;
    },
  };
};
