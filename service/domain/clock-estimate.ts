/**
 * Estimates the offset of another clock from exchanges with it. Pure, and free of imports: boxes use it to follow the
 * reference box, pages to follow their box.
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

/** The result of an exchange: the other clock is `offset` ms ahead, ± half the round trip. */
export interface Sample {
  at: number;
  offset: number;
  roundTrip: number;
}

const MAX_SAMPLES = 8;
/** Relative drift of two quartz clocks, with a margin: 50 ppm. */
const DRIFT = 0.000_05;
/** Tolerance for rounding and jitter of clock readings. */
const GRAIN_MS = 0.5;
/** Samples with a longer round trip are too imprecise. */
const MAX_ROUND_TRIP_MS = 2_000;

/** Uncertainty of a sample at `now`, in ms. */
const uncertainty = ({ roundTrip, at }: Sample, now: number): number => roundTrip / 2 + Math.max(0, now - at) * DRIFT;

const lessCertain = (one: Sample, other: Sample, now: number): Sample =>
  uncertainty(other, now) > uncertainty(one, now) ? other : one;

/**
 * The sample with the smallest round trip is best: its asymmetry is bounded by the round trip. If samples contradict each
 * other, one of the clocks was set, and the older samples are dropped.
 */
export const createEstimator = () => {
  let samples: Sample[] = [];

  return {
    /** Adds an exchange; ignores an impossible one. */
    add: ({ t0, t1, t2, t3 }: Exchange): void => {
      const sample = { at: t3, offset: (t1 - t0 + t2 - t3) / 2, roundTrip: t3 - t0 - (t2 - t1) };
      const { offset, roundTrip } = sample;
      if (!Number.isFinite(offset) || t3 < t0 || roundTrip < -GRAIN_MS || roundTrip > MAX_ROUND_TRIP_MS) return;
      const agrees = (other: Sample): boolean =>
        Math.abs(other.offset - offset) <= uncertainty(other, t3) + uncertainty(sample, t3) + GRAIN_MS;
      samples = [...samples.filter(agrees), sample];
      // A busy machine answers late for a while: what was precise before is worth more than what is new.
      if (samples.length <= MAX_SAMPLES) return;
      const worst = samples.reduce((least, other) => lessCertain(least, other, t3));
      samples = samples.filter((each) => each !== worst);
    },
    /** The most precise sample at the reading `at` of this clock; null: no samples. */
    best: (at: number): Sample | null =>
      samples.reduce<Sample | null>(
        (best, sample) => (best === null || uncertainty(sample, at) <= uncertainty(best, at) ? sample : best),
        null,
      ),
    count: (): number => samples.length,
    clear: (): void => {
      samples = [];
    },
  };
};

/** An offset that slews from `offset` at the reading `at` to `target`, too slowly to be visible in videos. */
export interface Course {
  at: number;
  offset: number;
  target: number;
}

/** Milliseconds per millisecond: 0.5 %. */
const SLEW = 0.005;
/** Larger errors, which would take about a minute to slew, are stepped. */
export const STEP_MS = 250;

export const offsetAt = ({ at, offset, target }: Course, now: number): number => {
  const most = Math.max(0, now - at) * SLEW;
  return offset + Math.min(Math.max(target - offset, -most), most);
};

/** Changes the target, without a step however far it is. */
export const slew = (course: Course, target: number, at: number): Course => ({
  at,
  target,
  offset: offsetAt(course, at),
});

/** Changes the target; steps to it if `atOnce`, or if it is more than {@link STEP_MS} away. */
export const steer = (course: Course, target: number, at: number, atOnce = false): Course => {
  const offset = offsetAt(course, at);
  return { at, target, offset: atOnce || Math.abs(target - offset) > STEP_MS ? target : offset };
};
