/** The site's clock as one box keeps it: a course beside its own steady clock. Pure: readings are arguments, in ms. */
import { type Course, createEstimator, type Exchange, offsetAt, STEP_MS, steer } from '../domain/clock-estimate.ts';

export interface SiteClock {
  /** The site's time at a reading of the steady clock. */
  at(steady: number): number;
  /** This box is the reference: the site's time goes on from where it is, and keeps to this box's time of day. */
  lead(steady: number, wall: number): void;
  /** The reference is another box, and has answered. */
  follow(nodeId: string, exchange: Exchange): void;
  /** Whom it follows, and how well it knows it; null: nobody. */
  source(): { nodeId: string; roundTrip: number; samples: number } | null;
}

/** Until so many exchanges agree, what they say is taken at once: nobody has seen the time before. */
const SETTLED = 4;

/** Begins with the box's own time of day. */
export const createSiteClock = (steady: number, wall: number): SiteClock => {
  const estimator = createEstimator();
  let course: Course = { at: steady, offset: wall - steady, target: wall - steady };
  /** What the time of day was ahead of the steady clock, at the last look. */
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
      // A box that takes over with a wrong time of day must not pull the site along: it goes on with the site's, until
      // somebody sets its clock.
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
