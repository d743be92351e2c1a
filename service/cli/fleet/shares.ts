/** The phases of a rollout: each includes more sites. Pure. */
import { createHash } from 'node:crypto';

/** The percentile of a site among all sites, above 0 and up to 100: the same for every rollout. */
export const placeOf = (site: string): number => {
  const number = createHash('sha256').update(site).digest().readUInt32BE(0);
  return ((number + 1) / 2 ** 32) * 100;
};

/**
 * The sites of each phase, without those of earlier phases. Empty phases are left out.
 * @param phases percentages, ascending
 */
export const phasesOf = (
  sites: readonly string[],
  phases: readonly number[],
): { percent: number; sites: string[] }[] => {
  let before = 0;
  return phases.flatMap((percent) => {
    const own = sites.filter((site) => placeOf(site) > before && placeOf(site) <= percent).sort();
    before = percent;
    return own.length === 0 ? [] : [{ percent, sites: own }];
  });
};
