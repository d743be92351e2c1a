import type { Hub } from '../connections/hub.ts';
import type { Reports } from '../connections/reports.ts';
import type { Content } from '../content/content.ts';
import type { MissingMedia } from '../content/missing.ts';
import type { Copies } from '../copies/copies.ts';
import type { Feeds } from '../feeds/feeds.ts';
import type { Options } from '../options.ts';
import type { Mirror } from '../peers/mirror.ts';
import type { Peers } from '../peers/registry.ts';
import type { Replication } from '../peers/replication.ts';
import type { Ffmpeg } from '../streams/ffmpeg.ts';
import type { Sync } from '../sync/sync.ts';
import type { Health, KioskHealth } from '../wire/health.ts';
import type { Routes } from './routes.ts';

interface Dependencies {
  content: Pick<Content, 'status' | 'warnings'>;
  missingMedia: Pick<MissingMedia, 'warnings'>;
  feeds: Pick<Feeds, 'health'>;
  hub: Pick<Hub, 'count'>;
  reports: Pick<Reports, 'describe'>;
  nodeId: string;
  /** Whatever keeps something on the disk, and says in sentences what is amiss with it. */
  stores: readonly { faults(): string[] }[];
  ffmpeg: Pick<Ffmpeg, 'describe'>;
  peers: Pick<Peers, 'health'>;
  replication: Pick<Replication, 'health'>;
  mirror: Pick<Mirror, 'health'>;
  sync: Pick<Sync, 'health'>;
  copies: Pick<Copies, 'status'>;
  /** Of the displays; absent where there are none. */
  kiosk: (() => KioskHealth) | undefined;
  options: Pick<Options, 'variant' | 'warnings' | 'site'>;
  version: string;
  startedAt: Date;
}

/** `GET /healthz`: 200 for as long as the service can answer; what is amiss stands in the answer. */
export const healthRoutes = ({
  content,
  missingMedia,
  feeds,
  hub,
  reports,
  nodeId,
  stores,
  ffmpeg,
  peers,
  replication,
  mirror,
  sync,
  copies,
  kiosk,
  options,
  version,
  startedAt,
}: Dependencies): Routes => ({
  'GET /healthz': async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      status: 'ok',
      version,
      variant: options.variant,
      startedAt: startedAt.toISOString(),
      uptime: Math.round(process.uptime() * 10) / 10,
      warnings: [...options.warnings],
      nodeId,
      store: { faults: stores.flatMap((store) => store.faults()) },
      content: { ...content.status(), warnings: [...(await content.warnings()), ...missingMedia.warnings()] },
      ...feeds.health(),
      connections: hub.count(),
      copies: copies.status(),
      site: options.site,
      peers: peers.health(),
      replication: { ...(await replication.health()), media: mirror.health() },
      ...reports.describe(),
      sync: sync.health(),
      ffmpeg: await ffmpeg.describe(),
      ...(kiosk && { kiosk: kiosk() }),
    } satisfies Health;
  },
});
