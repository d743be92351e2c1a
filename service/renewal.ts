/**
 * The running service for its host. It restarts with a new node id if another box has the same one, as after cloning a
 * disk, and with the time zone that it has learned.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SessionPage } from './content/index.ts';
import type { EndingAction } from './contract/console/action-names.ts';
import type { ActionAnswer } from './contract/console/actions.ts';
import type { OpeningTime } from './contract/content.ts';
import type { Screen } from './contract/playlist.ts';
import type { Devices } from './devices/index.ts';
import type { ServiceContext } from './module.ts';
import type { Peers } from './peers/index.ts';
import { type Closers, createClosers } from './platform/closers.ts';
import { isTimeZone, type Options } from './platform/options/index.ts';
import type { Records } from './records/index.ts';
import type { PageHeaders } from './secrets/index.ts';

export interface Service {
  /** The base URL of the service on this machine. */
  url: string;
  /** The id of the box, stored in its data directory. */
  nodeId: string;
  /** The time zone of the schedules, an IANA name. */
  timeZone(): string;
  screens(): Screen[];
  /** The opening times of a screen, in the time zone of the site; null: always open. */
  hours(slug: string): readonly OpeningTime[] | null;
  /** Whether an emergency is on at a screen, in which every display is on. */
  isEmergency(slug: string): boolean;
  /** Base URLs of the release folders on the reachable peers. */
  updateFeeds(): string[];
  /** Keeps alerts about this box and its displays quiet for ten minutes: its version is about to be replaced. Never rejects. */
  beginUpdate(): Promise<void>;
  /** The slug of the screen that a device is bound to; null: not bound, or the screen was deleted. */
  screenOf(deviceId: string): string | null;
  /** The headers of a secret of pages, and the origins that get them; null: there is no such secret. */
  pageHeaders(name: string): PageHeaders | null;
  /** The web slides that name a session, in which somebody signs in on the maintenance page. */
  sessionPages(): SessionPage[];
  /** Records that somebody signed in to a session at this box, or out of it, and has its pages try again what failed. */
  onSession(change: 'signin' | 'signout', session: string, origin: string): Promise<void>;
  /** SHA-256 of the root certificate of the site, for people to compare; null: there is none. */
  rootFingerprint(): string | null;
  /** Writes the secret of the site to config.json, or a new one, as `POST /console/api/protect` does; it counts from the next start. */
  protect(secret?: string): Promise<{ secret: string; config: string; boxes: readonly { url: string }[] }>;
  /** Makes an admin, who joins at this address within ten minutes. @throws CodedError, or an Error with a message for the user */
  recover(): Promise<{ url: string; expiresAt: string }>;
  /** Restarts the machine, switches it off, or resets the box, as an action of the console does. @throws CodedError as that does */
  end(action: EndingAction): Promise<ActionAnswer>;
  /** Binds a device to a screen, as onboarding does. @throws CodedError as onboarding does */
  bind(deviceId: string, screenSlug: string): Promise<void>;
  /**
   * Stops the service in order: listening, sockets, stores. Takes at most 5 s unless the disk hangs.
   */
  close(): Promise<void>;
}

/** The box has a new node id or time zone, and the service is to start again with it. */
interface Renewal {
  /** The port on which the service listens. */
  port: number;
  warnings: readonly string[];
}

export type OnRenewal = (renewal: Renewal) => void;

const RETRY_MS = 1_000;

/** Opens the service; what it opens is added to `closers`. */
type Open = (options: Options, closers: Closers, onRenewal: OnRenewal) => Promise<Service>;

/** Starts a service, and starts it again where the box was renewed. A failed start closes everything it opened. */
export const startRenewable = async (options: Options, log: Logger, open: Open): Promise<Service> => {
  let closing = false;
  let given = options;
  let renewing: Promise<void> = Promise.resolve();

  const openOrClose = async (): Promise<Service> => {
    const closers = createClosers(log);
    try {
      return await open(given, closers, renew);
    } catch (error) {
      await closers.close();
      throw error;
    }
  };

  /** Starts the service again, at the same port. */
  const restart = async ({ port, warnings }: Renewal): Promise<void> => {
    await current.close();
    given = { ...given, port, warnings: [...given.warnings, ...warnings] };
    while (!closing) {
      try {
        current = await openOrClose();
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
  const started = openOrClose().then((service) => {
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
    timeZone: () => current.timeZone(),
    screens: () => current.screens(),
    hours: (slug) => current.hours(slug),
    isEmergency: (slug) => current.isEmergency(slug),
    updateFeeds: () => current.updateFeeds(),
    screenOf: (deviceId) => current.screenOf(deviceId),
    pageHeaders: (name) => current.pageHeaders(name),
    sessionPages: () => current.sessionPages(),
    onSession: (...change) => current.onSession(...change),
    rootFingerprint: () => current.rootFingerprint(),
    protect: (secret) => current.protect(secret),
    recover: () => current.recover(),
    end: (action) => current.end(action),
    bind: (deviceId, screenSlug) => current.bind(deviceId, screenSlug),
    beginUpdate: () => current.beginUpdate(),
    close: async () => {
      closing = true;
      await renewing;
      await current.close();
    },
  };
};

interface Dependencies {
  peers: Pick<Peers, 'onClone' | 'addState' | 'alive'>;
  devices: Pick<Devices, 'onTimeZone'>;
  records: Pick<Records, 'audit'>;
}

interface Box {
  nodeId: string;
  /** Saves a new node id. */
  renewId(): Promise<unknown>;
  /** Saves a time zone. */
  keepTimeZone(timeZone: string): Promise<unknown>;
  port: number;
  onRenewal: OnRenewal;
}

/**
 * Renews the box, once each, where another has its node id, and where a kiosk learns the time zone that it lacks: from a
 * phone in front of its first display, or from another box of the site.
 */
export const watchRenewals = (
  { options, log, tempo, kiosk }: Pick<ServiceContext, 'options' | 'log' | 'tempo' | 'kiosk'>,
  { peers, devices, records }: Dependencies,
  { nodeId, renewId, keepTimeZone, port, onRenewal }: Box,
) => {
  let isRenewing = false;
  peers.onClone(async (other) => {
    if (isRenewing) return;
    isRenewing = true;
    try {
      await renewId();
      const warning = `The box at ${other} had the same node id, ${nodeId}, as a copied disk has. This box has taken a new one; it keeps its bindings.`;
      onRenewal({ port, warnings: [warning] });
    } catch (error) {
      isRenewing = false;
      log.error(
        { err: error, url: other },
        'another box has the node id of this one, and a new one could not be saved',
      );
    }
  });

  let isTold = false;
  let settling: NodeJS.Timeout | undefined;
  const learn = async (given: string): Promise<void> => {
    if (isTold || !options.lacksTimeZone || !isTimeZone(given)) return;
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: given }).resolvedOptions();
    if (timeZone === 'UTC') return;
    isTold = true;
    try {
      await keepTimeZone(timeZone);
    } catch (error) {
      isTold = false;
      return log.error({ err: error, timeZone }, 'the time zone of this box could not be saved');
    }
    // A display that was just given a screen connects to it first.
    settling = setTimeout(() => onRenewal({ port, warnings: [] }), tempo.devices.settle).unref();
    const [before, after] = [{ timeZone: 'UTC' }, { timeZone }];
    const made = { operator: null, address: null, action: 'box.zone', target: timeZone, result: 'ok', before, after };
    await records.audit.record(made);
  };
  devices.onTimeZone((timeZone) => void learn(timeZone));
  peers.addState(() => (options.lacksTimeZone ? {} : { timeZone: options.timeZone }));
  const ask = (): void => {
    const [zone] = peers.alive().flatMap(({ state }) => state.timeZone ?? []);
    if (zone !== undefined) void learn(zone);
  };
  const asking =
    kiosk !== undefined && options.lacksTimeZone ? setInterval(ask, tempo.devices.settle).unref() : undefined;
  return {
    close: (): void => {
      clearInterval(asking);
      clearTimeout(settling);
    },
  };
};
