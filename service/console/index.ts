/** `/console/api`: what an operator sees and changes of a whole site. */
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { Content } from '../content/index.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { dueQuery, type ScreenDue } from '../contract/programmes.ts';
import { deviceId as deviceIdSchema } from '../contract/terms.ts';
import type { Devices } from '../devices/index.ts';
import { publicBase } from '../domain/lan-address.ts';
import { instantAt } from '../domain/wall-time.ts';
import type { Drafts } from '../drafts/index.ts';
import type { Routes } from '../http/routes.ts';
import { checkScope, hasScope } from '../http/scope.ts';
import type { Media } from '../media/index.ts';
import type { Listening, Module, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { People } from '../people/index.ts';
import { systemDisk } from '../platform/store/disk.ts';
import type { Records } from '../records/index.ts';
import type { Screens } from '../screens/index.ts';
import type { Secrets } from '../secrets/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import type { Triggers } from '../triggers/index.ts';
import { createActions } from './actions.ts';
import { backupRoutes } from './backup-routes.ts';
import { boxRoutes } from './boxes.ts';
import { contentRoutes, versionRoutes } from './content.ts';
import { draftRoutes } from './drafts.ts';
import { mediaRoutes } from './media.ts';
import { createOwnOverview } from './own-overview.ts';
import { createKeyTeller, peopleRoutes } from './people.ts';
import { createProtection } from './protection.ts';
import { renamingRoutes } from './renaming.ts';
import { createRequireKnown } from './require-known.ts';
import { createSignOn } from './sign-on.ts';
import { createSite } from './site.ts';
import { takeoverRoutes } from './takeovers.ts';
import { createThumbnailCache, createThumbnails } from './thumbnails.ts';
import { createTriggerRoutes, type TriggerDependencies } from './triggers.ts';
import { createVersionStore } from './version-store.ts';

interface Dependencies {
  media: Media;
  content: Content;
  devices: Pick<Devices, 'list' | 'restore' | 'forget' | 'status' | 'sightings' | 'waiting' | 'learn'>;
  screens: Pick<Screens, 'pages' | 'faultOf' | 'identify' | 'command' | 'checkCommand' | 'screensOf'>;
  records: Pick<Records, 'audit' | 'raise' | 'recordReset'>;
  peers: Peers;
  takeovers: Pick<Takeovers, 'now' | 'open' | 'restore' | 'isEmergency' | 'put' | 'rewrite' | 'end'>;
  triggers: Triggers;
  /** Null: HTTPS of this box is off. */
  https: TriggerDependencies['https'];
  drafts: Pick<Drafts, 'list' | 'get' | 'save' | 'restore' | 'remove' | 'noteEditing' | 'editing'>;
  people: People;
  secrets: Pick<Secrets, 'warnings'>;
  health: {
    /** What is wrong with this box, in sentences. */
    warnings(): Promise<readonly string[]>;
  };
}

/** The content, its versions and the media. */
const createEditing = (context: ServiceContext, given: Dependencies): Module => {
  const { options, dirs, log, ffmpeg, confined, keep } = context;
  if (!options.console) return {};
  const dependencies = { ...given, requireKnown: createRequireKnown(context, given) };
  const { content, drafts, media } = dependencies;
  const versions = keep(createVersionStore({ folder: join(dirs.data, 'versions'), disk: systemDisk, log }));
  const playing = content.playing();
  if (playing !== null) void versions.record(playing);
  content.onPlay((document) => void versions.record(document));
  content.onLoss((document) => void versions.record(document));
  const cache = createThumbnailCache(join(dirs.data, 'thumbnails'), systemDisk);
  const backups = backupRoutes(context, { ...dependencies, versions });
  const thumbnails = createThumbnails({ media, ffmpeg, confined, log, cache });
  let resuming: Promise<void> | undefined;
  return {
    routes: {
      ...contentRoutes(context, dependencies),
      ...versionRoutes(versions, content, context),
      ...draftRoutes(context, { ...dependencies, versions }),
      ...mediaRoutes({ ...dependencies, thumbnails }),
      ...renamingRoutes(dependencies),
      ...backups.routes,
    },
    states: {
      /** What plays, and the draft that is published. */
      publication: (id) => {
        const { sha256 = null, changedAt = null } = content.playing() ?? {};
        return { sha256, changedAt, title: drafts.list().find((draft) => draft.id === id)?.title ?? null };
      },
    },
    start: async () => {
      resuming = backups.resume();
      // A large one may take minutes, and displays have no page until the service has started.
      await Promise.race([resuming, wait(context.tempo.console.resume, undefined, { ref: false })]);
    },
    close: () => {
      thumbnails.close();
      // A restore that fails because its stores were closed would be discarded.
      return resuming;
    },
  };
};

const deviceParams = z.object({ deviceId: deviceIdSchema });

/** @param devices stores that the device is forgotten, which the other boxes then fetch */
const deviceRoutes = (
  devices: Pick<Devices, 'forget'>,
  screens: Pick<Screens, 'screensOf'>,
  content: Pick<Content, 'screens' | 'tags'>,
): Routes => ({
  'DELETE /console/api/devices/:deviceId': async (ctx) => {
    const { deviceId } = readFields(deviceParams, ctx.params);
    if (hasScope(ctx)) checkScope(ctx, content, await screens.screensOf(deviceId));
    await devices.forget(deviceId, ctx.state.log);
    ctx.status = 204;
  },
});

const LATEST = Date.UTC(9999, 0);

const programmeRoutes = (
  { options: { timeZone } }: Pick<ServiceContext, 'options'>,
  content: Pick<Content, 'timeOf' | 'playsAt'>,
): Routes => ({
  'GET /console/api/screens/:slug/programme': (ctx) => {
    const { at: text } = readFields(dueQuery, ctx.query);
    const at = text === undefined ? content.timeOf(ctx.params.slug) : instantAt(text, timeZone);
    if (at === null || at < 0 || at >= LATEST) {
      throw new CodedError('invalid_field', 'at is not an ISO 8601 date and time such as 2026-11-24T11:40.', {
        field: 'at',
      });
    }
    const plays = content.playsAt(ctx.params.slug, at);
    if (plays === null) throw new CodedError('screen_not_found');
    const { playlist_id, programme_id, reason, slides, next } = plays;
    ctx.body = {
      at: new Date(at).toISOString(),
      playlist_id,
      programme_id,
      reason,
      slides: slides.map(({ id }) => id),
      next: next && { at: new Date(next.at).toISOString(), playlist_id: next.playlist_id },
    } satisfies ScreenDue;
  },
});

export type Console = ReturnType<typeof createConsole>;

export const createConsole = (context: ServiceContext, dependencies: Dependencies) => {
  const { options } = context;
  const { content, devices, screens, peers, takeovers, health, records } = dependencies;
  const editing = createEditing(context, dependencies);
  let listening = { url: '', port: 0 };
  /** Of this box, for other machines; looked up each time, because boxes move between networks. */
  const address = (): string | null => {
    const { host } = new URL(listening.url);
    return publicBase(options.publicUrl, { host, port: listening.port }, networkInterfaces(), options.host);
  };
  const url = (): string => address() ?? listening.url;
  const actions = createActions(context, { peers, screens, address: url, recordReset: records.recordReset });
  const { volume } = actions;
  const here = createOwnOverview(context, { content, screens, devices, warnings: health.warnings, volume });
  const site = createSite(context, { content, devices, peers, takeovers, here, url });
  const triggers = createTriggerRoutes(context, { ...dependencies, site });
  const boxes = boxRoutes(context, { peers, screens, site });
  const tellKey = createKeyTeller({ people: dependencies.people, records });
  const signOn = createSignOn(context, { people: dependencies.people, records, tellKey });
  const protection = createProtection(context, { ...dependencies, address });
  return {
    protect: protection.protect,
    recover: protection.recover,
    /** The site, as `GET /console/api/site` tells it. */
    overview: site.take,
    kiosks: site.kiosks,
    silent: site.silent,
    volumes: site.volumes,
    screenshot: boxes.screenshot,
    act: actions.act,
    routes: {
      ...editing.routes,
      ...triggers.routes,
      ...site.routes,
      ...boxes.routes,
      ...actions.routes,
      ...deviceRoutes(devices, screens, content),
      ...takeoverRoutes({ takeovers, content, peers, site }),
      ...programmeRoutes(context, content),
      ...peopleRoutes(context, { people: dependencies.people, peers, tellKey }),
      ...protection.routes,
      ...signOn.routes,
    } satisfies Routes,
    states: editing.states ?? {},
    health: () => triggers.health?.() ?? {},
    metrics: () => triggers.metrics?.() ?? {},
    start: (at: Listening) => {
      listening = at;
      return editing.start?.(at);
    },
    close: () => {
      signOn.close?.();
      return editing.close?.();
    },
  };
};
