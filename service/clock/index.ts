/** The clock of the site. */
import { answerPeer } from '../http/peer-answer.ts';
import type { Routes } from '../http/routes.ts';
import type { Media } from '../media/index.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { People } from '../people/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import type { Triggers } from '../triggers/index.ts';
import { createSync, type Sync } from './sync.ts';

/** The site's time, for peers. */
const syncRoutes = (sync: Pick<Sync, 'time'>): Routes => ({
  'GET /api/peers/time': (ctx) => {
    answerPeer(ctx, sync.time());
  },
});

export type Clock = Module & Pick<Sync, 'now' | 'isConfirmed' | 'onSkew'>;

interface Dependencies {
  peers: Pick<Peers, 'alive' | 'ask' | 'followClock'>;
  /** Follows the clock. */
  media: Pick<Media, 'followClock'>;
  takeovers: Pick<Takeovers, 'followClock'>;
  triggers: Pick<Triggers, 'followClock'>;
  people: Pick<People, 'followClock'>;
}

export const createClock = (
  context: ServiceContext,
  { peers, media, takeovers, triggers, people }: Dependencies,
): Clock => {
  const sync = createSync(context, { peers });
  media.followClock(sync);
  peers.followClock(sync);
  takeovers.followClock(sync);
  triggers.followClock(sync);
  people.followClock(sync);
  return {
    now: sync.now,
    isConfirmed: sync.isConfirmed,
    onSkew: sync.onSkew,
    routes: syncRoutes(sync),
    health: () => ({ fields: { sync: sync.health() }, notes: sync.notes() }),
    metrics: () => ({ signage_sync_skew_seconds: (sync.health().swaps?.p95 ?? 0) / 1000 }),
    start: sync.start,
    close: sync.close,
  };
};
