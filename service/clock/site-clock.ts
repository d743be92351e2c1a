/** The site's clock on one box: an offset to its monotonic clock. Pure: clock readings are arguments, in ms. */
import { type Course, createEstimator, type Exchange, offsetAt, STEP_MS, steer } from '../domain/clock-estimate.ts';

export interface SiteClock {
  /** The site's time at a reading of the monotonic clock. */
  at(steady: number): number;
  /** This box is the reference: the site's time continues, and is steered to this box's time of day. */
  lead(steady: number, wall: number): void;
  /** Another box is the reference: adds an exchange with it. */
  follow(nodeId: string, exchange: Exchange): void;
  /** The reference that it follows and the quality of the estimate; null if it follows no other box. */
  source(): { nodeId: string; roundTrip: number; samples: number } | null;
}

/** Until this many exchanges, the estimate is applied at once rather than slewed: no page has used the time yet. */
const SETTLED = 4;

/** Starts at the box's own time of day. */
export const createSiteClock = (steady: number, wall: number): SiteClock => {
  const estimator = createEstimator();
  let course: Course = { at: steady, offset: wall - steady, target: wall - steady };
  /** The time of day minus the monotonic clock, at the last reading. */
  let own = wall - steady;
  let source: string | null = null;
  let settled = false;

  return {
    at: (reading) => reading + offsetAt(course, reading),
    lead: (reading, time) => {
      const wasSet = source === null && Math.abs(time - reading - own) > STEP_MS;
      source = null;
      settled = true;
      estimator.clear();
      own = time - reading;
      // A box that takes over with a wrong time of day must not change the site's time: it continues the site's time
      // until its clock is set.
      const isNear = Math.abs(own - offsetAt(course, reading)) <= STEP_MS;
      if (wasSet || isNear) course = steer(course, own, reading);
    },
    follow: (nodeId, exchange) => {
      if (nodeId !== source) estimator.clear();
      source = nodeId;
      estimator.add(exchange);
      const best = estimator.best(exchange.t3);
      if (best === null) return;
      course = steer(course, best.offset, exchange.t3, !settled);
      settled ||= estimator.count() >= SETTLED;
    },
    source: () => {
      const best = estimator.best(course.at);
      if (source === null || best === null) return null;
      return { nodeId: source, roundTrip: best.roundTrip, samples: estimator.count() };
    },
  };
};
