/** Screens as they are shown: the live connections of their pages, and commands to them. */
import type { Clock } from '../clock/index.ts';
import type { Content } from '../content/index.ts';
import type { VideoFrames } from '../contract/health.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import type { Identify } from '../contract/socket.ts';
import { isBound, isDisplayOf } from '../domain/displays.ts';
import { createEmitter } from '../domain/emitter.ts';
import { isThisMachine } from '../domain/network-scope.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import { createCommands } from './commands.ts';
import { createHub } from './hub.ts';
import { createIdentify, type Identified } from './identify.ts';
import { createReports, type FailingSlide } from './reports.ts';
import { createScreenRoutes } from './routes.ts';
import { showRoutes } from './show.ts';
import { createSnapshot } from './snapshot.ts';
import { createVideoFrames } from './video.ts';

export { fitting } from './fitting.ts';
export type { LivePage } from './hub.ts';

interface Dependencies {
  content: Pick<Content, 'screens' | 'payload' | 'slide' | 'tags' | 'onChange'>;
  peers: Pick<Peers, 'broadcast' | 'relayCommand' | 'isAlone' | 'settled' | 'refresh' | 'onMedia'>;
  clock: Pick<Clock, 'now' | 'isPageTime' | 'onSkew'>;
  proofs: { verify(deviceId: string, proof: string, address: string): boolean; mustProve(deviceId: string): boolean };
  devices: {
    get(deviceId: string): { clientName: string; screenSlug: string | null } | undefined;
    /** Saves the name of a device; resolves when it is on the disk. @param at when another box did so */
    rename(deviceId: string, clientName: string, at?: string): Promise<{ clientName: string; updatedAt: string }>;
  };
}

export type Screens = ReturnType<typeof createScreens>;

/** How long an answer to an order for the box is awaited, ms. */
const HARDWARE_MS = 5_000;

export const createScreens = (context: ServiceContext, { content, peers, clock, devices, proofs }: Dependencies) => {
  const { options, kiosk } = context;
  const redirects = createEmitter<[string]>();
  const shownCodes = createEmitter<[string]>();
  const reports = createReports(context, content.slide);
  const identification = createIdentify(HARDWARE_MS);
  const frames = createVideoFrames(context.monotonicNow);
  const forget = (connectionId: string): void => {
    reports.forget(connectionId);
    frames.forget(connectionId);
  };
  const hub = createHub(context, {
    isDisplay: ({ deviceId, clientIp, proven }) => {
      if (options.sharedSecret === null) return true;
      if (deviceId === null) return false;
      if (proven && isBound(devices.get(deviceId))) return true;
      // A display of this box that is set by hand has no binding, and an id that no proof is kept of.
      return isThisMachine(clientIp) && isDisplayOf(kiosk?.(), deviceId);
    },
    onIdentified: identification.onIdentified,
    onVideo: frames.accept,
    reports: { ...reports, forget },
    isProof: proofs.verify,
    mustProve: proofs.mustProve,
    revisionOf: (slug) => {
      const payload = content.payload(slug);
      return payload && { revision: payload.revision, ...(payload.plan === undefined ? null : { plan: payload.plan }) };
    },
    nameOf: (deviceId) => devices.get(deviceId)?.clientName ?? null,
    siteTime: clock,
    onSkew: clock.onSkew,
  });
  // Pages switch by themselves at a boundary; those that do not, all ask at another moment.
  content.onChange((slugs, cause) =>
    hub.broadcastRevisions(slugs, cause === 'time' ? context.tempo.screens.boundary : 0),
  );
  content.onChange(reports.contentChanged);
  const retry = (): void => hub.sendToAll({ type: 'media' });
  peers.onMedia(retry);
  const slugs = (): string[] => content.screens().map(({ slug }) => slug);
  const { takeSnapshot, takeLocally, takeAll, shownBy } = createSnapshot({ slugs, hub, peers });
  const screensOf = async (deviceId: string): Promise<string[]> => {
    const shown = await shownBy(deviceId);
    return [devices.get(deviceId)?.screenSlug ?? [], shown].flat();
  };
  const commands = createCommands(context.monotonicNow, {
    hub,
    rename: devices.rename,
    takeSnapshot,
    takeAll,
    peers,
    onRedirect: redirects.emit,
    onShowCode: shownCodes.emit,
  });
  const { routes, ...served } = createScreenRoutes(context, {
    content,
    screensOf,
    hub,
    takeSnapshot,
    takeLocally,
    commands,
  });
  const { deviceIds, onHello, onJoin, onPlays, locationsOf, rename, send, whenHeard, pages } = hub;
  return {
    deviceIds,
    onHello,
    onJoin,
    onPlays,
    locationsOf,
    rename,
    send,
    whenHeard,
    pages,
    /**
     * Has the pages of this box show its name and address, and their number.
     * @param display the number or the device id of one page; null: all
     */
    identify: (box: Pick<Identify, 'name' | 'address'>, display: string | number | null): Promise<Identified> =>
      identification.identify(hub, box, ({ connection: { deviceId } }, number) => {
        if (display === null || display === number) return true;
        return deviceId !== null && canonicalDeviceId(deviceId) === canonicalDeviceId(String(display));
      }),
    /** The frames of films that the page of a device counted in the last minute; null: none was on. */
    framesOf: (deviceId: string): VideoFrames | null => {
      const page = hub.pages().findLast(({ connection }) => connection.deviceId === deviceId);
      return page === undefined ? null : frames.of(page.connection.id);
    },
    faultOf: reports.faultOf,
    /** What displays of this box could not show, and have not shown since. */
    failingSlides: (): FailingSlide[] => reports.failing(hub.isDisplay),
    /** Has the pages of this box try again what failed. */
    retry,
    /** Calls `listener` with each device whose page is sent to its landing page, to show a claim code. */
    onShowCode: shownCodes.on,
    ...served,
    routes: { ...routes, ...showRoutes({ content, hub, peers }) },
    takeSnapshot,
    /** Resolves with the screens that a device concerns: that which it is bound to, and those that it shows, on all boxes. */
    screensOf,
    /** Calls `listener` with each gap between two slides, ms. */
    onSwap: reports.onSwap,
    /** Calls `listener` with the address of each `redirect`. */
    onRedirect: redirects.on,
    health: () => ({
      fields: { connections: hub.count(), ...reports.describe() },
      issues: {
        video: frames.issues(
          new Map(hub.pages().map(({ connection: { id, label } }) => [id, label])),
          (slug, slideId) => content.slide(slug, slideId)?.title || slideId,
        ),
      },
      notes: reports.missingGlyphs(hub.isDisplay),
    }),
    metrics: () => {
      const counts = hub.counts();
      return {
        signage_screen_connections: Object.fromEntries(
          content.screens().map(({ slug }) => [slug, counts.get(slug) ?? 0]),
        ),
        signage_commands_total: commands.counts(),
        signage_video_frames_total: { ...frames.total() },
      };
    },
    close: hub.close,
  } satisfies Module & Record<string, unknown>;
};
