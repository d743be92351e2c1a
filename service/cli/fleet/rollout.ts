/** Content for sites: published to some or in phases, and what they play then. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { inParallel } from '../parallel.ts';
import type { Hub, KnownBox, Packed, Site } from './hub.ts';

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

/** What sites play after a push. */
export interface Outcomes {
  /** They play it. */
  applied: string[];
  /** They took it, and it was edited there since. */
  diverged: string[];
  /** They refused it, or have a box with nothing to show since. */
  failed: string[];
  /** They have not reported in time; they apply it once they are connected. */
  silent: string[];
}

export interface PhaseResult extends Outcomes {
  percent: number;
  sites: number;
}

/** Reports of thousands of sites are read at once. */
const LOOK_MS = 1_000;
/** Sites whose content is stored at the same time. */
const AT_ONCE = 64;

type Outcome = keyof Outcomes;

/** A box writes its status once a minute. */
const AWAY_MS = 150_000;

/** @param now by the clock of the hub */
export const isAway = ({ seenAt }: KnownBox, now: number): boolean => now - Date.parse(seenAt) > AWAY_MS;

/** The outcome at a site, from its last reports. Pure. @param push id; @param now by the clock of the hub */
export const outcomeOf = (site: Site | undefined, push: string, now: number): Outcome => {
  const { content = null, reportedAt = null, boxes = [] } = site ?? {};
  if (content === null || content.wantedPush !== push) return 'silent';
  if (content.state === 'refused') return 'failed';
  if (content.push?.id !== push || content.state === 'pending' || content.state === 'none') return 'silent';
  const failing = boxes.filter((box) => box.status === 'failing' && !isAway(box, now));
  // What a box said before may be what the push repairs.
  if (failing.some(({ seenAt }) => seenAt > (reportedAt ?? ''))) return 'failed';
  if (failing.length > 0) return 'silent';
  return content.state === 'diverged' ? 'diverged' : 'applied';
};

interface Plan {
  packed: Packed;
  sites: readonly string[];
  /** How long sites may take, ms. */
  waitMs: number;
  /** Called with each site whose content the hub has. */
  onStored(site: string): void;
}

type Reached = Pick<Hub, 'now' | 'sites' | 'want'>;

/** Publishes to sites, and waits for what they report. */
export const publishTo = async (hub: Reached, { packed, sites, waitMs, onStored }: Plan): Promise<Outcomes> => {
  await inParallel(sites, AT_ONCE, async (site) => {
    await hub.want(site, packed);
    onStored(site);
  });
  const ahead = (await hub.now()) - performance.now();
  for (const until = performance.now() + waitMs; ; await delay(LOOK_MS)) {
    const known = new Map((await hub.sites()).map((site) => [site.site, site]));
    const now = ahead + performance.now();
    const of = (outcome: Outcome) =>
      sites.filter((site) => outcomeOf(known.get(site), packed.push.id, now) === outcome);
    const result = { applied: of('applied'), diverged: of('diverged'), failed: of('failed'), silent: of('silent') };
    if (result.silent.length === 0 || result.failed.length > 0 || performance.now() >= until) return result;
  }
};

interface Phases extends Plan {
  /** Percentages, ascending. */
  phases: readonly number[];
  onPhase(result: PhaseResult): void;
}

/** @returns the phases that were begun; the last one is where it was held, see {@link isHeld} */
export const rollOut = async (hub: Reached, { phases, onPhase, ...plan }: Phases): Promise<PhaseResult[]> => {
  const results: PhaseResult[] = [];
  for (const { percent, sites } of phasesOf(plan.sites, phases)) {
    const result = { percent, sites: sites.length, ...(await publishTo(hub, { ...plan, sites })) };
    results.push(result);
    onPhase(result);
    if (isHeld(result)) break;
  }
  return results;
};

/** Whether the rollout stops after the phase: no site plays the document, or a site plays a different one. */
export const isHeld = ({ applied, failed, diverged }: Outcomes): boolean =>
  failed.length + diverged.length > 0 || applied.length === 0;
