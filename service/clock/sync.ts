/** Keeps this box on the site's clock: chooses the reference among the peers and exchanges times with it. */
import type { Health, SkewSummary } from '../contract/health.ts';
import type { PeerTime } from '../contract/peers.ts';
import type { Skew } from '../contract/socket.ts';
import type { Exchange } from '../domain/clock-estimate.ts';
import { type EpochMs, isTrusted } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import {
  backersOf,
  type Candidate,
  chooseReference,
  contradicts,
  isBacked,
  isBorneBy,
  isNear,
  judge,
  mayEstablish,
  type Opinion,
  type Verdict,
  WALL_MS,
} from './majority.ts';
import { createSiteClock } from './site-clock.ts';

/** Samples of each kind that are kept. */
const MAX_SAMPLES = 1_000;

/** Percentiles of absolute values: early is as bad as late. */
const summarise = (skews: readonly number[]): SkewSummary | null => {
  const sorted = skews.map(Math.abs).sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return sorted.length === 0 ? null : { count: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
};

const createSkews = () => {
  let swaps: number[] = [];
  let videos: number[] = [];
  return {
    add: (skew: Skew): void => {
      swaps = [...swaps, ...skew.swaps].slice(-MAX_SAMPLES);
      videos = [...videos, ...skew.videos].slice(-MAX_SAMPLES);
    },
    summary: () => ({ swaps: summarise(swaps), videos: summarise(videos) }),
  };
};

type Context = Pick<ServiceContext, 'log' | 'now' | 'monotonicNow' | 'isSynchronized' | 'ids' | 'tempo'>;

/** The site's time is slewed, and steps only if it is far off and most boxes agree. */
export type Sync = ReturnType<typeof createSync>;

/** Exchanges after which the time is established. */
const MIN_SAMPLES = 6;
/** Peers that a box without an established time asks per round. */
const MOST_ASKED = 8;
/** Boxes besides the reference that are asked in a survey. */
const SURVEYED = 3;
/** Rounds of asking them after an unexpected event. */
const CLOSE_LOOKS = 4;

interface Answered extends Opinion {
  at: number;
}

export const createSync = (
  { log, now, monotonicNow, isSynchronized, ids: { nodeId }, tempo: { clock: tempo } }: Context,
  { peers }: { peers: Pick<Peers, 'alive' | 'ask'> },
) => {
  const clock = createSiteClock(monotonicNow(), now());
  const skews = createSkews();
  /** By node id. */
  const answers = new Map<string, Answered>();
  const startedAt = monotonicNow();
  let established = false;
  let reference = nodeId;
  let verdict: Verdict = { site: null, wall: null };
  let ownWall = now() - monotonicNow();
  /**
   * Since its own clock was set last: whether it has followed another box, and whether the time of the site was that of two
   * boxes at least, or of one that follows a time server.
   */
  let hasFollowed = false;
  let wasBorne = false;
  let surveyedAt = Number.NEGATIVE_INFINITY;
  let closeLooks = 0;
  let unexpectedAt = startedAt;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const siteNow = (): number => clock.at(monotonicNow());
  const aliveIds = (): string[] => peers.alive().map((peer) => peer.nodeId);

  const candidates = (): Candidate[] => {
    const alive = aliveIds();
    for (const [id, { site, at }] of answers) {
      const age = monotonicNow() - at;
      if (!alive.includes(id) || age > tempo.opinion || (site === null && age > tempo.noTime)) answers.delete(id);
    }
    return alive.map((id) => {
      const answer = answers.get(id);
      return { nodeId: id, established: answer === undefined ? null : answer.site !== null };
    });
  };

  const isCalm = (): boolean => {
    if (!established || closeLooks > 0) unexpectedAt = monotonicNow();
    return monotonicNow() - unexpectedAt >= tempo.calmAfter;
  };

  /** This box's own answer, as an offset. */
  const own = (): Opinion => {
    const time = now();
    const monotonic = monotonicNow();
    return {
      site: established ? clock.at(monotonic) - monotonic : null,
      wall: isTrusted(time) ? time - monotonic : null,
      doubt: 0,
      synchronized: isSynchronized(),
    };
  };

  const ask = async (id: string): Promise<[string, Exchange] | null> => {
    const t0 = monotonicNow();
    const answer = await peers.ask({ nodeId: id }, 'clock.time');
    const t3 = monotonicNow();
    if (!answer.ok || answer.body.nodeId !== id) {
      answers.set(id, { site: null, wall: null, doubt: 0, synchronized: false, at: t3 });
      return null;
    }
    const { established: has, received, sent, wall: theirs, synchronized } = answer.body;
    const offset = (received - t0 + sent - t3) / 2;
    const doubt = Math.max(0, t3 - t0 - (sent - received)) / 2;
    const time = isTrusted(theirs) ? theirs - sent + offset : null;
    answers.set(id, { site: has ? offset : null, wall: time, doubt, synchronized, at: t3 });
    return has ? [id, { t0, t1: received, t2: sent, t3 }] : null;
  };

  const choose = (others: Candidate[]): void => {
    if (!established && mayEstablish(nodeId, others, monotonicNow() - startedAt > tempo.grace)) established = true;
    verdict = judge([own(), ...answers.values()], others.length - answers.size, wasBorne);
    const isFollowed = ({ nodeId: id }: Candidate): boolean => {
      const opinion = answers.get(id);
      return opinion === undefined || !contradicts(opinion, verdict);
    };
    const eligible = others.filter(isFollowed);
    // A box that contradicts the majority itself follows one that does not.
    const mayLead = established && !(contradicts(own(), verdict) && eligible.some((other) => other.established));
    const chosen = chooseReference({ nodeId, established: mayLead }, eligible);
    if (chosen === reference) return;
    log.info({ reference: chosen, own: chosen === nodeId }, "the reference of the site's clock changed");
    reference = chosen;
    closeLooks = CLOSE_LOOKS;
  };

  /** The boxes to ask in this round. */
  const asked = (others: readonly Candidate[]): string[] => {
    const isDue = closeLooks > 0 || monotonicNow() - surveyedAt >= (isCalm() ? tempo.calmSurvey : tempo.survey);
    if (isDue) {
      closeLooks = Math.max(0, closeLooks - 1);
      surveyedAt = monotonicNow();
    }
    const count = established ? (isDue ? SURVEYED : 0) : MOST_ASKED;
    const age = (id: string): number => answers.get(id)?.at ?? Number.NEGATIVE_INFINITY;
    const surveyed = others
      .map((other) => other.nodeId)
      .filter((id) => id !== reference)
      .toSorted((a, b) => age(a) - age(b))
      .slice(0, count);
    return [...(reference === nodeId ? [] : [reference]), ...surveyed];
  };

  /** Whether this box's time of day was set since the last round. */
  const wasSet = (): boolean => Math.abs(now() - monotonicNow() - ownWall) > WALL_MS;

  /** Returns whether the next exchange is due soon. */
  const poll = async (): Promise<boolean> => {
    if (wasSet()) {
      closeLooks = CLOSE_LOOKS;
      hasFollowed = false;
      wasBorne = false;
    }
    ownWall = now() - monotonicNow();
    choose(candidates());
    const exchanges = new Map((await Promise.all(asked(candidates()).map(ask))).filter((answer) => answer !== null));
    choose(candidates());
    if (established && reference === nodeId) {
      // A box that is left alone is no majority: it keeps the time that it has followed, unless a time server tells its own.
      const mayStep = !hasFollowed || answers.size > 0 || isSynchronized();
      const majority = verdict.wall === null || !mayStep ? null : verdict.wall + monotonicNow();
      clock.lead(monotonicNow(), now(), majority);
      return false;
    }
    const exchange = exchanges.get(reference);
    if (exchange !== undefined) {
      hasFollowed = true;
      clock.follow(reference, exchange, ({ offset, roundTrip }) => {
        const may = isBacked(offset, roundTrip / 2, verdict);
        if (!may) closeLooks = Math.max(closeLooks, 1);
        return may;
      });
    }
    const samples = clock.source()?.samples ?? 0;
    established ||= samples >= MIN_SAMPLES;
    return exchange === undefined || samples < MIN_SAMPLES;
  };

  /** Those whose time of day the site has, if it is that on which most boxes agree. */
  const backers = (): Opinion[] =>
    established && isNear(siteNow() - monotonicNow(), verdict.wall)
      ? backersOf(verdict.wall, [own(), ...answers.values()])
      : [];

  /** A clock that was never set gives way to any that was. */
  const isFollowed = (): boolean =>
    !wasSet() && (wasBorne || isBorneBy(backers()) || (established && !isTrusted(now()) && isTrusted(siteNow())));

  /** Whether the clock of this box tells the time of the site. */
  const isOwn = (): boolean => Math.abs(siteNow() - now()) <= 2 * WALL_MS;

  const tick = async (): Promise<void> => {
    const soon = await poll();
    wasBorne ||= isBorneBy(backers());
    if (closed) return;
    const dueAt = monotonicNow() + (soon ? tempo.fast : isCalm() ? tempo.calm : tempo.slow);
    /** A clock that was set is looked at soon: until then nobody knows whether it is right now. */
    const look = (): void => {
      const left = dueAt - monotonicNow();
      if (left <= 0 || wasSet()) return void tick();
      timer = setTimeout(look, Math.min(tempo.look, left));
      timer.unref();
    };
    look();
  };

  const notes = (): string[] => {
    const behind = (siteNow() - now()) / 1_000;
    const isWrong = established && Math.abs(behind) > WALL_MS / 1_000;
    const by = `${Math.abs(behind).toFixed(0)} s ${behind > 0 ? 'behind' : 'ahead of'} the site's time`;
    const agreement = verdict.wall === null ? ', and no majority of the boxes agrees on the time of day' : '';
    const liars = [...answers].filter(([, opinion]) => contradicts(opinion, verdict)).map(([id]) => id);
    return [
      ...(isWrong ? [`The clock of this box is ${by}${agreement}: let it follow a time server, or set it.`] : []),
      ...liars.slice(0, 10).map((id) => `The box ${id} contradicts most boxes about the time, and is not followed.`),
    ];
  };

  return {
    now: siteNow,
    isEstablished: () => established,
    timeOfDay: (): EpochMs => (isFollowed() ? siteNow() : now()),
    /** Whether pages go by the time of the site, which they ask for again and again; null: not known yet. */
    isPageTime: (): boolean | null => (established ? isFollowed() || isOwn() : null),
    // A time server confirms the clock of this box, which says nothing of a time that it follows.
    isConfirmed: () => !wasSet() && (backers().length > 1 || (established && isSynchronized() && isOwn())),
    /** Records the synchronization error that a page reports. */
    onSkew: skews.add,
    /** The answer to a peer that requests the time. */
    time: (): PeerTime => {
      const time = siteNow();
      return { nodeId, established, received: time, sent: time, wall: now(), synchronized: isSynchronized() };
    },
    health: (): Health['sync'] => {
      const source = clock.source();
      return {
        reference,
        established,
        offset: siteNow() - now(),
        roundTrip: source?.nodeId === reference ? source.roundTrip : null,
        ...skews.summary(),
      };
    },
    /** Sentences about clocks that are wrong. */
    notes,
    start: (): void => void tick(),
    close: (): void => {
      closed = true;
      clearTimeout(timer);
    },
  };
};
