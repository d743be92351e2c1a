/** Slides that failed are skipped for a while; longer after each failure in a row. Pure. */
import type { Slide } from '../../service/contract/playlist.ts';
import { cooldownMs } from './timeline.ts';

interface Cooldown {
  /** Failures in a row. */
  failures: number;
  /** When it ends, by the monotonic clock. */
  until: number;
}

/** By slide id. A slide whose cooldown has ended stays in it until it was shown without an error. */
export type Cooldowns = ReadonlyMap<string, Cooldown>;

export const noCooldowns: Cooldowns = new Map();

/** Starts a cooldown for a slide that failed. */
export const withCooldown = (cooldowns: Cooldowns, { id, kind }: Slide, elapsed: number): Cooldowns => {
  const failures = failuresOf(cooldowns, id) + 1;
  return new Map(cooldowns).set(id, { failures, until: elapsed + cooldownMs(kind, failures) });
};

/** Resets the failures of a slide that was shown without an error. */
export const withoutCooldown = (cooldowns: Cooldowns, slideId: string): Cooldowns =>
  cooldowns.has(slideId) ? new Map([...cooldowns].filter(([id]) => id !== slideId)) : cooldowns;

/** The number of failures of a slide in a row. */
export const failuresOf = (cooldowns: Cooldowns, slideId: string): number => cooldowns.get(slideId)?.failures ?? 0;

export const isCoolingDown = (cooldowns: Cooldowns, slideId: string, elapsed: number): boolean =>
  elapsed < (cooldowns.get(slideId)?.until ?? Number.NEGATIVE_INFINITY);

/** When the cooldowns end, by the monotonic clock. */
export const endsOf = (cooldowns: Cooldowns): number[] => [...cooldowns.values()].map(({ until }) => until);
