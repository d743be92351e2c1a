/** The clock of the site. */
import type { Content } from '../content/index.ts';
import type { SiteTime } from '../domain/time.ts';
import type { Drafts } from '../drafts/index.ts';
import type { Feeds } from '../feeds/index.ts';
import type { Routes } from '../http/routes.ts';
import type { Media } from '../media/index.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { People } from '../people/index.ts';
import type { Shared } from '../shared/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import type { Triggers } from '../triggers/index.ts';
import { createSync, type Sync } from './sync.ts';

/** The site's time, for peers. */
const syncRoutes = (sync: Pick<Sync, 'time'>): Routes => ({
  'GET /api/peers/time': (ctx) => {
    ctx.body = sync.time();
  },
});

export type Clock = Module & Pick<Sync, 'now' | 'timeOfDay' | 'isPageTime' | 'isConfirmed' | 'onSkew'>;

interface Dependencies {
  peers: Pick<Peers, 'alive' | 'ask' | 'followClock'>;
  media: Pick<Media, 'followClock'>;
  content: Pick<Content, 'followClock'>;
  feeds: Pick<Feeds, 'followClock'>;
  drafts: Pick<Drafts, 'followClock'>;
  takeovers: Pick<Takeovers, 'followClock'>;
  triggers: Pick<Triggers, 'followClock'>;
  people: Pick<People, 'followClock'>;
  devices: { followClock(clock: SiteTime): void };
  shared: Pick<Shared, 'followClock'>;
}

export const createClock = (
  context: ServiceContext,
  { peers, media, content, feeds, takeovers, drafts, triggers, people, devices, shared }: Dependencies,
): Clock => {
  const sync = createSync(context, { peers });
  const followers = [content, devices, drafts, feeds, media, peers, people, shared, takeovers, triggers];
  for (const each of followers) each.followClock(sync);
  return {
    now: sync.now,
    timeOfDay: sync.timeOfDay,
    isPageTime: sync.isPageTime,
    isConfirmed: sync.isConfirmed,
    onSkew: sync.onSkew,
    routes: syncRoutes(sync),
    health: () => ({ fields: { sync: sync.health() }, notes: sync.notes() }),
    metrics: () => ({ signage_sync_skew_seconds: (sync.health().swaps?.p95 ?? 0) / 1000 }),
    start: sync.start,
    close: sync.close,
  };
};
