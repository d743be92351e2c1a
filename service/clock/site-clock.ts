/** The site's clock on one box: an offset to its monotonic clock. Pure: clock readings are arguments, in ms. */
import { type Course, createEstimator, type Exchange, offsetAt, type Sample, slew } from '../domain/clock-estimate.ts';
import { WALL_MS } from './majority.ts';

export type SiteClock = ReturnType<typeof createSiteClock>;

/** Until this many exchanges, the estimate is stepped rather than slewed: no page has used the time yet. */
const SETTLED = 4;
/** Larger errors are not slewed by a box on its own account. */
const FAR_MS = 1_000;

/** Starts at the box's own time of day. */
export const createSiteClock = (steady: number, wall: number) => {
  const estimator = createEstimator();
  let course: Course = { at: steady, offset: wall - steady, target: wall - steady };
  let source: string | null = null;
  let settled = false;

  const steer = (target: number, at: number, mayStep: boolean): void => {
    const isFar = Math.abs(target - offsetAt(course, at)) > FAR_MS;
    course = isFar && mayStep ? { at, target, offset: target } : slew(course, target, at);
  };

  return {
    /** The site's time at a reading of the monotonic clock. */
    at: (reading: number): number => reading + offsetAt(course, reading),
    /**
     * This box is the reference: the site's time continues, and is steered to this box's time of day.
     * @param majority the time of day by most boxes, to which it steps if it is far off; null: there is no majority
     */
    lead: (reading: number, time: number, majority: number | null): void => {
      source = null;
      settled = true;
      estimator.clear();
      const own = time - reading;
      const agreed = majority === null ? null : majority - reading;
      if (agreed !== null) steer(Math.abs(own - agreed) <= WALL_MS ? own : agreed, reading, true);
      // A box that takes over with a wrong time of day must not change the site's time.
      else if (Math.abs(own - offsetAt(course, reading)) <= FAR_MS) steer(own, reading, false);
    },
    /**
     * Another box is the reference: adds an exchange with it.
     * @param isBacked whether most boxes confirm an estimate, so that this box may step to it
     */
    follow: (nodeId: string, exchange: Exchange, isBacked: (estimate: Sample) => boolean): void => {
      if (nodeId !== source) estimator.clear();
      source = nodeId;
      estimator.add(exchange);
      const best = estimator.best(exchange.t3);
      if (best === null) return;
      if (settled) steer(best.offset, exchange.t3, isBacked(best));
      else course = { at: exchange.t3, target: best.offset, offset: best.offset };
      settled ||= estimator.count() >= SETTLED;
    },
    /** The reference that it follows and the quality of the estimate; null if it follows no other box. */
    source: (): { nodeId: string; roundTrip: number; samples: number } | null => {
      const best = estimator.best(course.at);
      if (source === null || best === null) return null;
      return { nodeId: source, roundTrip: best.roundTrip, samples: estimator.count() };
    },
  };
};
