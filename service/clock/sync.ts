/** Keeps this box on the site's clock: chooses the reference among the peers and exchanges times with it. */
import type { Logger } from 'pino';
import type { Health } from '../contract/health.ts';
import type { PeerTime } from '../contract/peers.ts';
import type { Skew } from '../contract/socket.ts';
import type { Exchange } from '../domain/clock-estimate.ts';
import type { Peers } from '../peers/index.ts';
import { type Candidate, chooseReference, mayEstablish } from './reference.ts';
import { createSiteClock } from './site-clock.ts';
import { createSkews } from './skews.ts';

interface Dependencies {
  log: Logger;
  peers: Pick<Peers, 'alive' | 'ask'>;
  /** The machine's time of day, ms since the epoch. */
  wall(): number;
  /** ms, monotonic. */
  monotonicNow?: () => number;
}

export interface Sync {
  /** The site's time, ms since the epoch. It is slewed, and steps only if it is far off. */
  now(): number;
  /** Records the synchronization error that a page reports. */
  onSkew(skew: Skew): void;
  /** The answer to a peer that requests the time. */
  time(): PeerTime;
  health(): Health['sync'];
  start(): void;
  close(): void;
}

/** Interval of exchanges before and after the time is established. */
const FAST_MS = 250;
const SLOW_MS = 4_000;
/** Exchanges after which the time is established. */
const MIN_SAMPLES = 6;
/** How long a box that has started waits for the time of others. */
const GRACE_MS = 6_000;
/** How long the answer of a peer without an established time is valid. */
const NO_TIME_MS = 1_000;

export const createSync = (
  { log, peers, wall, monotonicNow = () => performance.now() }: Dependencies,
  { nodeId }: { nodeId: string },
): Sync => {
  const clock = createSiteClock(monotonicNow(), wall());
  const skews = createSkews();
  const answers = new Map<string, { established: boolean; at: number }>();
  const startedAt = monotonicNow();
  let established = false;
  let reference = nodeId;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const now = (): number => clock.at(monotonicNow());

  const candidates = (): Candidate[] => {
    const alive = peers.alive().map((peer) => peer.nodeId);
    for (const [id, { established: has, at }] of answers) {
      if (!alive.includes(id) || (!has && monotonicNow() - at > NO_TIME_MS)) answers.delete(id);
    }
    return alive.map((id) => ({ nodeId: id, established: answers.get(id)?.established ?? null }));
  };

  const ask = async (id: string): Promise<[string, Exchange] | null> => {
    const t0 = monotonicNow();
    const answer = await peers.ask({ nodeId: id }, 'clock.time');
    const t3 = monotonicNow();
    const has = answer.ok && answer.body.nodeId === id && answer.body.established;
    answers.set(id, { established: has, at: t3 });
    return has ? [id, { t0, t1: answer.body.received, t2: answer.body.sent, t3 }] : null;
  };

  const choose = (others: Candidate[]): void => {
    if (!established && mayEstablish(nodeId, others, monotonicNow() - startedAt > GRACE_MS)) established = true;
    const chosen = chooseReference({ nodeId, established }, others);
    if (chosen !== reference)
      log.info({ reference: chosen, own: chosen === nodeId }, "the reference of the site's clock changed");
    reference = chosen;
  };

  /** Returns whether the next exchange is due soon. */
  const poll = async (): Promise<boolean> => {
    const others = candidates();
    choose(others);
    if (established && reference === nodeId) {
      clock.lead(monotonicNow(), wall());
      return false;
    }
    // A box without an established time asks every peer.
    const asked = established ? [reference] : others.map((other) => other.nodeId);
    const exchanges = new Map((await Promise.all(asked.map(ask))).filter((answer) => answer !== null));
    choose(candidates());
    const exchange = exchanges.get(reference);
    if (exchange !== undefined) clock.follow(reference, exchange);
    const samples = clock.source()?.samples ?? 0;
    established ||= samples >= MIN_SAMPLES;
    return exchange === undefined || samples < MIN_SAMPLES;
  };

  const tick = async (): Promise<void> => {
    const soon = await poll();
    if (closed) return;
    timer = setTimeout(tick, soon ? FAST_MS : SLOW_MS);
    timer.unref();
  };

  return {
    now,
    onSkew: skews.add,
    time: () => ({ nodeId, established, received: now(), sent: now() }),
    health: () => {
      const source = clock.source();
      return {
        reference,
        established,
        offset: now() - wall(),
        roundTrip: source?.nodeId === reference ? source.roundTrip : null,
        ...skews.summary(),
      };
    },
    start: () => void tick(),
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
};
