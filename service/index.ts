/** Opens the modules of the service in order, and joins them to one service. */
import { setTimeout as pause } from 'node:timers/promises';
import { openAccess } from './auth/index.ts';
import { createClock } from './clock/index.ts';
import { createConsole } from './console/index.ts';
import { createContent } from './content/index.ts';
import { createContext, type Ports } from './context.ts';
import type { OpeningTime } from './contract/content.ts';
import type { Screen } from './contract/playlist.ts';
import { createDevices, createStore } from './devices/index.ts';
import { createFeeds } from './feeds/index.ts';
import { createHealth } from './health/index.ts';
import { openHttp } from './http/open.ts';
import { createMedia } from './media/index.ts';
import { createModules } from './module.ts';
import { createPages } from './pages/index.ts';
import { createPeers } from './peers/index.ts';
import { type Closers, createClosers } from './platform/closers.ts';
import { type Options, refusal } from './platform/options/index.ts';
import { makeFolder } from './platform/store/folder.ts';
import { lockFolder } from './platform/store/lock.ts';
import { createRecords } from './records/index.ts';
import { createScreens } from './screens/index.ts';
import { createStreams } from './streams/index.ts';
import { createTakeovers } from './takeovers/index.ts';
import { createUpdates } from './updates/index.ts';

export type { Ports } from './context.ts';

export interface Service {
  /** The base URL of the service on this machine. */
  url: string;
  /** The id of the box, stored in its data directory. */
  nodeId: string;
  /** The current screens. */
  screens(): Screen[];
  /** The opening times of a screen, in the time zone of the site; null: always open. */
  hours(slug: string): readonly OpeningTime[] | null;
  /** Base URLs of the release folders on the reachable peers. */
  updateFeeds(): string[];
  /** Keeps alerts about this box and its displays quiet for ten minutes: its version is about to be replaced. Never rejects. */
  beginUpdate(): Promise<void>;
  /** The slug of the screen that a device is bound to; null: not bound, or the screen was deleted. */
  screenOf(deviceId: string): string | null;
  /** Binds a device to a screen, as onboarding does. @throws CodedError as onboarding does */
  bind(deviceId: string, screenSlug: string): Promise<void>;
  /**
   * Stops the service in order: listening, sockets, stores. Takes at most 5 s unless the disk hangs.
   */
  close(): Promise<void>;
}

/**
 * Starts the player service. A failed start closes everything it opened and can be retried.
 * @throws OptionsError where a folder cannot be created, or the address does not belong to this machine; an Error with a
 *   message for the operator where the port or the data directory is in use; the system error where a folder is not writable
 */
export const startService = async (options: Options, ports: Ports): Promise<Service> => {
  const { log } = ports;
  let closing = false;
  let renewing: Promise<void> = Promise.resolve();

  const openOrClose = async (given: Options): Promise<Service> => {
    const closers = createClosers(log);
    try {
      return await open(given, ports, closers, renew);
    } catch (error) {
      await closers.close();
      throw error;
    }
  };

  /** Starts the service again, at the same port, where its node id has changed. */
  const restart = async ({ port, warning }: Renewal): Promise<void> => {
    await current.close();
    const renewed = { ...options, port, warnings: [...options.warnings, warning] };
    while (!closing) {
      try {
        current = await openOrClose(renewed);
        return;
      } catch (error) {
        log.error({ err: error }, 'the service could not be started again; it is tried every second');
        await pause(RETRY_MS);
      }
    }
  };

  const renew: OnRenewal = (renewal) => {
    renewing = Promise.all([renewing, started]).then(() => restart(renewal));
  };

  let current: Service;
  const started = openOrClose(options).then((service) => {
    current = service;
  });
  await started;
  return {
    get url() {
      return current.url;
    },
    get nodeId() {
      return current.nodeId;
    },
    screens: () => current.screens(),
    hours: (slug) => current.hours(slug),
    updateFeeds: () => current.updateFeeds(),
    screenOf: (deviceId) => current.screenOf(deviceId),
    bind: (deviceId, screenSlug) => current.bind(deviceId, screenSlug),
    beginUpdate: () => current.beginUpdate(),
    close: async () => {
      closing = true;
      await renewing;
      await current.close();
    },
  };
};

/** @throws OptionsError */
const makeFolders = async (options: Options): Promise<void> => {
  for (const name of ['dataDir', 'uploadDir', 'mediaDir'] as const) {
    await makeFolder(options[name]).catch((error: NodeJS.ErrnoException) => {
      throw refusal(name, options[name], `a folder that can be made (${error.code})`);
    });
  }
};

/** The box has a new node id, and the service is to start again with it. */
interface Renewal {
  /** The port on which the service listens. */
  port: number;
  /** For the operator. */
  warning: string;
}

type OnRenewal = (renewal: Renewal) => void;

const RETRY_MS = 1_000;

const open = async (options: Options, ports: Ports, closers: Closers, onRenewal: OnRenewal): Promise<Service> => {
  const { log } = ports;
  const { dataDir, childEnvironment: environment } = options;
  for (const warning of options.warnings) log.warn(warning);
  await makeFolders(options);
  closers.lasting(await lockFolder({ dataDir, environment, log }));
  const { nodeId, renewId, devices: stored } = closers.lasting(await createStore({ dataDir, log }));
  const context = createContext(options, ports, nodeId, closers);
  const access = await openAccess(context);
  const { pageToken } = access;

  const modules = createModules(closers);
  const { add } = modules;
  const feeds = add(await createFeeds(context));
  const takeovers = add(await createTakeovers(context));
  const content = add(await createContent(context, { feeds, takeovers }));
  const media = add(await createMedia(context, { content, feeds }));
  const streams = add(await createStreams(context, { content }));
  const peers = add(createPeers(context, { content, media, devices: stored, takeovers }));
  const clock = add(createClock(context, { peers, media }));
  const screens = add(createScreens(context, { content, peers, clock, devices: stored }));
  const devices = add(await createDevices(context, { stored, content, peers, screens }));
  const pages = add(await createPages(context, { content, screens, devices, pageToken }));
  add(createUpdates(context));
  const records = add(await createRecords(context, { modules, content, media, streams, peers, screens, devices }));
  const { audit, beginUpdate } = records;
  const health = add(createHealth(context, modules));
  if (options.fleetUrl !== null) {
    // Nothing of NATS is loaded by a site without a fleet.
    const { createFleet } = await import('./fleet/index.ts');
    add(createFleet(context, { summary: health.summary, content, screens, peers, records }));
  }
  add(createConsole(context, { content, media, streams, peers, screens, devices, takeovers, health }));

  const { port, url, ...server } = await openHttp({
    ...context,
    ...{ nodeId, access, audit, routes: modules.routes(), sockets: modules.sockets() },
    ...{ answerOpen: screens.answerOpen, sendMissing: pages.sendMissing, onDevice: devices.saw },
  });
  closers.active(server);
  let isRenewing = false;
  peers.onClone(async (other) => {
    if (isRenewing) return;
    isRenewing = true;
    try {
      await renewId();
      const warning = `The box at ${other} had the same node id, ${nodeId}, as a copied disk has. This box has taken a new one; it keeps its bindings.`;
      onRenewal({ port, warning });
    } catch (error) {
      isRenewing = false;
      log.error(
        { err: error, url: other },
        'another box has the node id of this one, and a new one could not be saved',
      );
    }
  });
  await modules.start({ port, url });

  return {
    url,
    nodeId,
    screens: content.screens,
    // In an emergency every display is on.
    hours: (slug) => (takeovers.isEmergency({ slug, tags: content.tags(slug) }) ? null : content.hours(slug)),
    updateFeeds: peers.updateFeeds,
    beginUpdate,
    screenOf: (deviceId) => devices.status(deviceId, url).screenSlug,
    bind: async (deviceId, screenSlug) => {
      const rule = { action: 'device.bind', subject: 'device', id: 'deviceId' } as const;
      const change = await audit.begin(rule, { params: { deviceId }, operator: null, address: null });
      await devices.bind(deviceId, screenSlug, url);
      await change.end('ok');
    },
    close: closers.close,
  };
};
