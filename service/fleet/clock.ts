/** The fleet's clock: that of the hub, estimated from when it stored the last status of this box. */

interface Dependencies {
  /** The machine's time of day, ms since the epoch; counts until the hub's is known. */
  now(): number;
  monotonicNow(): number;
}

export const createFleetClock = ({ now, monotonicNow }: Dependencies) => {
  let offset: number | null = null;
  return {
    /** ms since the epoch */
    now: (): number => (offset === null ? now() : monotonicNow() + offset),
    /**
     * Sets the clock by an event that the hub dated. An estimate that agrees with it is kept: a slow answer must not
     * replace a better one.
     * @param stored when, by the hub, ms since the epoch
     * @param sent the event is after this and before `received`, by the monotonic clock
     */
    observe: (stored: number, sent: number, received: number): void => {
      const [least, most] = [stored - received, stored - sent];
      if (offset === null || offset < least || offset > most) offset = (least + most) / 2;
    },
  };
};
export type FleetClock = ReturnType<typeof createFleetClock>;
