/** Keeps this box on the site's clock: finds the reference among the peers, and exchanges times with it. */
import type { Logger } from 'pino';
import type { Health } from '../contract/health.ts';
import { type PeerTime, peerTime } from '../contract/peers.ts';
import type { Skew } from '../contract/socket.ts';
import type { Exchange } from '../domain/clock-estimate.ts';
import type { Peers } from '../peers/registry.ts';
import { type Candidate, chooseReference, mayEstablish } from './reference.ts';
import { createSiteClock } from './site-clock.ts';
import { createSkews } from './skews.ts';

interface Dependencies {
  log: Logger;
  peers: Pick<Peers, 'alive' | 'call'>;
  /** The time of day by this machine, ms since the epoch. */
  wall(): number;
  /** ms, by a clock that is never set. */
  steady?: () => number;
}

export interface Sync {
  /** The time of the site, in ms since the epoch. It goes on evenly, and is set only where it is far off. */
  now(): number;
  /** A page has said how well it keeps in step. */
  onSkew(skew: Skew): void;
  /** What a peer that asks for the time is told. */
  time(): PeerTime;
  health(): Health['sync'];
  start(): void;
  close(): void;
}

/** How often the reference is asked while little is known of its time, and afterwards. */
const SOON_MS = 250;
const LATER_MS = 4_000;
/** Exchanges that make a time known. */
const ENOUGH = 6;
/** How long a box that has come up waits for others to give it the time. */
const GRACE_MS = 6_000;
/** How long a peer is believed that has no time to give. */
const NO_TIME_MS = 1_000;

export const createSync = (
  { log, peers, wall, steady = () => performance.now() }: Dependencies,
  { nodeId }: { nodeId: string },
): Sync => {
  const clock = createSiteClock(steady(), wall());
  const skews = createSkews();
  const said = new Map<string, { established: boolean; at: number }>();
  const startedAt = steady();
  let established = false;
  let reference = nodeId;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const now = (): number => clock.at(steady());

  const candidates = (): Candidate[] => {
    const alive = peers.alive().map((peer) => peer.nodeId);
    for (const [id, { established: has, at }] of said) {
      if (!alive.includes(id) || (!has && steady() - at > NO_TIME_MS)) said.delete(id);
    }
    return alive.map((id) => ({ nodeId: id, established: said.get(id)?.established ?? null }));
  };

  const ask = async (id: string): Promise<[string, Exchange] | null> => {
    const t0 = steady();
    const answer = await peers.call({ nodeId: id }, { path: '/api/peers/time', schema: peerTime });
    const t3 = steady();
    const has = answer.ok && answer.body.nodeId === id && answer.body.established;
    said.set(id, { established: has, at: t3 });
    return has ? [id, { t0, t1: answer.body.received, t2: answer.body.sent, t3 }] : null;
  };

  const choose = (others: Candidate[]): void => {
    if (!established && mayEstablish(nodeId, others, steady() - startedAt > GRACE_MS)) established = true;
    const chosen = chooseReference({ nodeId, established }, others);
    if (chosen !== reference) log.info({ reference: chosen, own: chosen === nodeId }, "the site's clock is another's");
    reference = chosen;
  };

  /** Answers whether there is more to find out soon. */
  const look = async (): Promise<boolean> => {
    const others = candidates();
    choose(others);
    if (established && reference === nodeId) {
      clock.lead(steady(), wall());
      return false;
    }
    // Whoever has no time yet looks for one that has.
    const asked = established ? [reference] : others.map((other) => other.nodeId);
    const answers = new Map((await Promise.all(asked.map(ask))).filter((answer) => answer !== null));
    choose(candidates());
    const exchange = answers.get(reference);
    if (exchange !== undefined) clock.follow(reference, exchange);
    const samples = clock.source()?.samples ?? 0;
    established ||= samples >= ENOUGH;
    return exchange === undefined || samples < ENOUGH;
  };

  const tick = async (): Promise<void> => {
    const soon = await look();
    if (closed) return;
    timer = setTimeout(tick, soon ? SOON_MS : LATER_MS);
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
