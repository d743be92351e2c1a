/**
 * How far another clock is ahead of this one, from exchanges with it. Pure, and free of imports: boxes follow one
 * another by it, and pages their box.
 */

/**
 * One exchange (RFC 5905, section 8), in ms: sent at `t0` and answered at `t3` by this clock, received at `t1` and
 * sent back at `t2` by the other.
 */
export interface Exchange {
  t0: number;
  t1: number;
  t2: number;
  t3: number;
}

/** What an exchange says: the other clock is `offset` ms ahead, give or take half the round trip. */
export interface Sample {
  at: number;
  offset: number;
  roundTrip: number;
}

export interface Estimator {
  /** Takes an exchange; one that can't be is left out. */
  add(exchange: Exchange): void;
  /** The sample to trust at a reading of this clock; null: there is none. */
  best(at: number): Sample | null;
  /** How many of the samples in hand agree with one another. */
  count(): number;
  clear(): void;
}

const MOST_SAMPLES = 8;
/** How fast two good quartzes part, and a margin: 50 ms in 1,000 s. */
const DRIFT = 0.000_05;
/** Readings are rounded, and no two clocks tick evenly. */
const GRAIN_MS = 0.5;
/** An answer that took longer says nothing worth having. */
const LONGEST_ROUND_TRIP_MS = 2_000;

/** What is uncertain about a sample by now, in ms. */
const doubt = ({ roundTrip, at }: Sample, now: number): number => roundTrip / 2 + Math.max(0, now - at) * DRIFT;

/**
 * The smallest round trip of the last exchanges wins: it had the least time to be lopsided in. Samples that exclude
 * each other tell that one of the clocks was set; the older ones are of no more use then.
 */
export const createEstimator = (): Estimator => {
  let samples: Sample[] = [];

  return {
    add: ({ t0, t1, t2, t3 }) => {
      const sample = { at: t3, offset: (t1 - t0 + t2 - t3) / 2, roundTrip: t3 - t0 - (t2 - t1) };
      const { offset, roundTrip } = sample;
      if (!Number.isFinite(offset) || t3 < t0 || roundTrip < -GRAIN_MS || roundTrip > LONGEST_ROUND_TRIP_MS) return;
      const agrees = (other: Sample): boolean =>
        Math.abs(other.offset - offset) <= doubt(other, t3) + doubt(sample, t3) + GRAIN_MS;
      samples = [...samples.filter(agrees), sample].slice(-MOST_SAMPLES);
    },
    best: (at) =>
      samples.reduce<Sample | null>(
        (best, sample) => (best === null || doubt(sample, at) <= doubt(best, at) ? sample : best),
        null,
      ),
    count: () => samples.length,
    clear: () => {
      samples = [];
    },
  };
};

/** An offset on its way: from `offset` at the reading `at` towards `target`, so slowly that no video shows it. */
export interface Course {
  at: number;
  offset: number;
  target: number;
}

/** Milliseconds a millisecond: half a percent. */
const SLEW = 0.005;
/** What is further off than this would take a minute to be made good, and is set instead. */
export const STEP_MS = 250;

export const offsetAt = ({ at, offset, target }: Course, now: number): number => {
  const most = Math.max(0, now - at) * SLEW;
  return offset + Math.min(Math.max(target - offset, -most), most);
};

/** Turns towards another target; at once where that is told, or far off. */
export const steer = (course: Course, target: number, at: number, atOnce = false): Course => {
  const offset = offsetAt(course, at);
  return { at, target, offset: atOnce || Math.abs(target - offset) > STEP_MS ? target : offset };
};
