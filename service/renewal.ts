/**
 * The running service for its host. It restarts with a new node id if another box has the same one, as after cloning a
 * disk.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SessionPage } from './content/index.ts';
import type { EndingAction } from './contract/console/action-names.ts';
import type { ActionAnswer } from './contract/console/actions.ts';
import type { OpeningTime } from './contract/content.ts';
import type { Screen } from './contract/playlist.ts';
import { type Closers, createClosers } from './platform/closers.ts';
import type { Options } from './platform/options/index.ts';
import type { PageHeaders } from './secrets/index.ts';

export interface Service {
  /** The base URL of the service on this machine. */
  url: string;
  /** The id of the box, stored in its data directory. */
  nodeId: string;
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

/** The box has a new node id, and the service is to start again with it. */
interface Renewal {
  /** The port on which the service listens. */
  port: number;
  warning: string;
}

export type OnRenewal = (renewal: Renewal) => void;

const RETRY_MS = 1_000;

/** Opens the service; what it opens is added to `closers`. */
type Open = (options: Options, closers: Closers, onRenewal: OnRenewal) => Promise<Service>;

/** Starts a service, and starts it again where its node id has changed. A failed start closes everything it opened. */
export const startRenewable = async (options: Options, log: Logger, open: Open): Promise<Service> => {
  let closing = false;
  let renewing: Promise<void> = Promise.resolve();

  const openOrClose = async (given: Options): Promise<Service> => {
    const closers = createClosers(log);
    try {
      return await open(given, closers, renew);
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

interface Box {
  nodeId: string;
  port: number;
  /** Saves a new node id. */
  renewId(): Promise<unknown>;
  log: Logger;
  onRenewal: OnRenewal;
}

/** Handles, once, another box with the same node id. */
export const createRenewal = ({ nodeId, port, renewId, log, onRenewal }: Box) => {
  let isRenewing = false;
  return async (other: string): Promise<void> => {
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
  };
};
