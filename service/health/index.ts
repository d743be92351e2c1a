import type { Sync } from '../clock/sync.ts';
import type { Content } from '../content/content.ts';
import type { Health, KioskHealth } from '../contract/health.ts';
import type { Presence } from '../devices/presence.ts';
import type { Feeds } from '../feeds/feeds.ts';
import type { Routes } from '../http/routes.ts';
import type { Copies } from '../media/copies/copies.ts';
import type { MediaReplication } from '../peers/media-replication.ts';
import type { MissingMedia } from '../peers/missing-media.ts';
import type { Peers } from '../peers/registry.ts';
import type { Replication } from '../peers/replication.ts';
import type { Options } from '../platform/options/index.ts';
import type { Hub } from '../screens/hub.ts';
import type { Reports } from '../screens/reports.ts';
import type { Ffmpeg } from '../streams/ffmpeg.ts';
import { issuesOf } from './issues.ts';

interface Dependencies {
  content: Pick<Content, 'status' | 'warnings' | 'screens'>;
  missingMedia: Pick<MissingMedia, 'warnings'>;
  feeds: Pick<Feeds, 'health'>;
  hub: Pick<Hub, 'count'>;
  presence: Pick<Presence, 'away'>;
  reports: Pick<Reports, 'describe' | 'missingGlyphs'>;
  nodeId: string;
  /** Everything that saves state; `faults` returns one sentence per problem. */
  stores: readonly { faults(): string[] }[];
  ffmpeg: Ffmpeg;
  peers: Pick<Peers, 'health'>;
  replication: Pick<Replication, 'health'>;
  mediaReplication: Pick<MediaReplication, 'health'>;
  sync: Pick<Sync, 'health'>;
  copies: Pick<Copies, 'status'>;
  /** State of the displays; absent where there are none. */
  kiosk: (() => KioskHealth) | undefined;
  options: Pick<Options, 'variant' | 'warnings' | 'site'>;
  version: string;
  startedAt: Date;
  /** The start by the monotonic clock, ms. */
  startedAtMonotonic: number;
  /** Monotonic clock, ms. */
  monotonicNow(): number;
}

/** Boxes that are switched on together find each other within this time. */
const START_MS = 60_000;

/** `GET /healthz`: 200 while the service can answer; the body reports problems. */
export const healthRoutes = ({
  content,
  missingMedia,
  feeds,
  hub,
  presence,
  reports,
  nodeId,
  stores,
  ffmpeg,
  peers,
  replication,
  mediaReplication,
  sync,
  copies,
  kiosk,
  options,
  version,
  startedAt,
  startedAtMonotonic,
  monotonicNow,
}: Dependencies): Routes => ({
  'GET /healthz': async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const media = mediaReplication.health();
    const facts = {
      content: {
        ...content.status(),
        warnings: [...(await content.warnings()), ...missingMedia.warnings(media.missing)],
      },
      store: { faults: stores.flatMap((store) => store.faults()) },
      ...feeds.health(),
      peers: peers.health(),
      ffmpeg: await ffmpeg.find(),
    };
    const { status, sentences } = issuesOf({
      ...facts,
      screens: content.screens().length,
      devicesAway: presence.away(),
      isStarting: monotonicNow() - startedAtMonotonic < START_MS,
    });
    ctx.body = {
      status,
      version,
      variant: options.variant,
      startedAt: startedAt.toISOString(),
      uptime: Math.round(process.uptime() * 10) / 10,
      warnings: [...sentences, ...reports.missingGlyphs(), ...options.warnings],
      nodeId,
      ...facts,
      connections: hub.count(),
      copies: copies.status(),
      site: options.site,
      replication: { ...(await replication.health()), media },
      ...reports.describe(),
      sync: sync.health(),
      ...(kiosk && { kiosk: kiosk() }),
    } satisfies Health;
  },
});
