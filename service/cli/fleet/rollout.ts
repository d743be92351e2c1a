/** A staged rollout: the content goes to a share of the sites, and to more only once it plays there. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Hub, Site } from './hub.ts';
import { phasesOf } from './shares.ts';

/** The outcome of a phase. */
export interface PhaseResult {
  percent: number;
  sites: number;
  /** Sites that took the content. */
  applied: string[];
  /** Sites that refused it, or have a box with nothing to show since. */
  failed: string[];
  /** Sites that have not reported in time; they apply it once they are connected. */
  silent: string[];
}

interface Plan {
  /** Gzipped. */
  bytes: Uint8Array;
  /** Of the document, unpacked. */
  sha256: string;
  sites: readonly string[];
  /** Percentages, ascending. */
  phases: readonly number[];
  /** How long a phase may take. */
  waitMs: number;
  onPhase(result: PhaseResult): void;
}

const LOOK_MS = 1_000;

type Outcome = 'applied' | 'failed' | 'silent';

/** The outcome at a site, from its last report. Pure. */
export const outcomeOf = (site: Site | undefined, sha256: string): Outcome => {
  if (site === undefined || site.content?.wanted !== sha256) return 'silent';
  const { state } = site.content;
  if (state === 'refused' || site.boxes.some(({ status }) => status === 'failing')) return 'failed';
  return state === 'applied' || state === 'diverged' ? 'applied' : 'silent';
};

/** @returns the phases that were begun; the last one is where it was held, if any site failed or none took it */
export const rollOut = async (hub: Pick<Hub, 'sites' | 'want'>, plan: Plan): Promise<PhaseResult[]> => {
  const results: PhaseResult[] = [];
  for (const { percent, sites } of phasesOf(plan.sites, plan.phases)) {
    await hub.want(sites, plan.bytes);
    const until = performance.now() + plan.waitMs;
    let result: PhaseResult;
    do {
      await delay(LOOK_MS);
      const known = new Map((await hub.sites()).map((site) => [site.site, site]));
      const of = (outcome: Outcome) => sites.filter((site) => outcomeOf(known.get(site), plan.sha256) === outcome);
      result = { percent, sites: sites.length, applied: of('applied'), failed: of('failed'), silent: of('silent') };
    } while (result.silent.length > 0 && result.failed.length === 0 && performance.now() < until);
    results.push(result);
    plan.onPhase(result);
    if (isHeld(result)) break;
  }
  return results;
};

/** Whether nothing further is rolled out after the phase. */
export const isHeld = ({ applied, failed }: PhaseResult): boolean => failed.length > 0 || applied.length === 0;
