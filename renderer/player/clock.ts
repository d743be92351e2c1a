import type { ClockState } from '../../service/contract/socket.ts';

/**
 * Two readings of time: `elapsed` never jumps and measures how long slides are on; `now` is the time of day by the
 * service's clock and decides what is on schedule, whatever this machine's own clock says.
 */
export interface Clock {
  /** Milliseconds since some fixed moment. */
  elapsed(): number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Whose clock can be right. Where it is `unset`, `now` means nothing. */
  state(): ClockState;
  /** Takes the service's time, where it is off by more than `tolerance` ms; answers how far that set the time, in ms. */
  set(serverTime: number, tolerance: number): number;
}

/** Clocks of one network that are further apart are not both right. */
const APART_MS = 60_000;

/**
 * @param builtAt when this player was built, ms since the epoch. It is later than that, so a clock that reads less has
 *   not been set: many boxes have none that goes on while they are off
 */
export const createClock = (builtAt: number): Clock => {
  const elapsed = () => performance.now();
  let offset: number | null = null;

  const services = (): number | null => (offset === null ? null : elapsed() + offset);

  const state = (): ClockState => {
    const [service, own] = [services(), Date.now()];
    if (service === null || service < builtAt) return own >= builtAt ? 'service' : 'unset';
    return Math.abs(service - own) <= APART_MS ? 'ok' : 'page';
  };

  const now = (): number => {
    const service = services();
    return service === null || state() === 'service' ? Date.now() : service;
  };

  return {
    elapsed,
    now,
    state,
    set: (serverTime, tolerance) => {
      const before = now();
      const isFirst = offset === null;
      const difference = serverTime - (services() ?? Number.NEGATIVE_INFINITY);
      if (Math.abs(difference) > tolerance) offset = serverTime - elapsed();
      return isFirst ? 0 : now() - before;
    },
  };
};
