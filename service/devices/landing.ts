/** The sockets of landing pages: each receives the status of its device on every change, and sends nothing. */
import type { WebSocket } from 'ws';
import { partyOf } from '../auth/throttle.ts';
import { mostWaiting } from '../contract/console/site.ts';
import type { LandingMessage } from '../contract/onboarding.ts';
import { mostBindings } from '../contract/peers.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import { remember } from '../domain/collections.ts';
import { isThisMachine } from '../domain/network-scope.ts';
import type { MonotonicMs } from '../domain/time.ts';
import { createSockets, frameOf } from '../http/sockets.ts';
import type { ServiceContext } from '../module.ts';
import { inSlices, type Steps } from '../platform/slices.ts';

type StatusMessage = Extract<LandingMessage, { type: 'status' }>;

interface Viewer {
  deviceId: string;
  /** Of its address. */
  party: string;
  status: () => StatusMessage;
  /** The last message that was sent. */
  sent: string;
}

/** Of one address; those of the box itself do not count. */
const MAX_PAGES = 100;
/** How long a landing page counts as that of its device after it has proved it, ms; it does so again sooner. */
const PROVED_MS = 60_000;

export type Landing = ReturnType<typeof createLanding>;

export const createLanding = ({
  logs,
  tempo,
  monotonicNow,
}: Pick<ServiceContext, 'logs' | 'tempo' | 'monotonicNow'>) => {
  const sockets = createSockets();
  const viewers = new Map<WebSocket, Viewer>();
  /** When a landing page of a device last proved it. */
  const proved = new Map<string, MonotonicMs>();

  const write = (socket: WebSocket, message: LandingMessage): boolean => sockets.write(socket, frameOf(message));

  const sendStatus = (socket: WebSocket, viewer: Viewer): boolean => {
    const status = viewer.status();
    viewer.sent = JSON.stringify(status);
    return write(socket, status);
  };

  function* refreshSteps(): Steps<void> {
    for (const [socket, viewer] of viewers) {
      if (JSON.stringify(viewer.status()) !== viewer.sent) sendStatus(socket, viewer);
      yield;
    }
  }
  const refresh = (): void => void inSlices(refreshSteps());
  let polling: NodeJS.Timeout | undefined;

  const liveOf = (deviceId: string) =>
    [...viewers].filter(
      ([socket, viewer]) =>
        canonicalDeviceId(viewer.deviceId) === canonicalDeviceId(deviceId) && sockets.isLive(socket),
    );

  return {
    /** Adds the socket of a client at an address, and sends it the status; closes it if the address has too many. */
    attach: (socket: WebSocket, address: string, deviceId: string, status: () => StatusMessage): void => {
      const viewer: Viewer = { deviceId, party: partyOf(address), status, sent: '' };
      const log = logs(`address ${viewer.party}`);
      sockets.add(socket, log, { deviceId, address });
      const isOwn = isThisMachine(address);
      if (!isOwn && [...viewers.values()].filter(({ party }) => party === viewer.party).length >= MAX_PAGES) {
        return sockets.refuse(socket, `more than ${MAX_PAGES} landing pages of one address`);
      }
      viewers.set(socket, viewer);
      socket.on('message', () => sockets.refuse(socket, 'a landing page only listens'));
      socket.on('close', () => viewers.delete(socket));
      sendStatus(socket, viewer);
      log.info({ deviceId, address }, 'a landing page connected');
    },
    /** Records that a landing page has proved that it is of the device. */
    proved: (deviceId: string): void => remember(proved, canonicalDeviceId(deviceId), monotonicNow(), mostBindings),
    /**
     * Sends the status to the pages of a device.
     * @param isProofNeeded whether they count only where one has proved lately to be the device
     * @returns the number of sockets that it was written to
     */
    notify: (deviceId: string, isProofNeeded = false): number => {
      const told = liveOf(deviceId).filter(([socket, viewer]) => sendStatus(socket, viewer)).length;
      const provedAt = proved.get(canonicalDeviceId(deviceId)) ?? Number.NEGATIVE_INFINITY;
      return isProofNeeded && monotonicNow() - provedAt >= PROVED_MS ? 0 : told;
    },
    /** Whether a page of the device is connected. */
    has: (deviceId: string): boolean => liveOf(deviceId).length > 0,
    /**
     * The devices of connected pages that are not bound, in their canonical form, at most {@link mostWaiting}. Addresses take
     * turns, so that a client with many pages does not displace the others.
     */
    waiting: (isBound: (deviceId: string) => boolean): string[] => {
      const turnOf = new Map<string, number>();
      const pagesOf = new Map<string, number>();
      for (const [socket, { deviceId, party }] of viewers) {
        const id = canonicalDeviceId(deviceId);
        if (isBound(id) || !sockets.isLive(socket)) continue;
        const turn = pagesOf.get(party) ?? 0;
        pagesOf.set(party, turn + 1);
        turnOf.set(id, Math.min(turn, turnOf.get(id) ?? turn));
      }
      const inTurns = [...turnOf].toSorted(([, one], [, other]) => one - other);
      return inTurns.slice(0, mostWaiting).map(([id]) => id);
    },
    /** Sends the status to every page whose status has changed. */
    refresh,
    /** Notifies the pages of a device that its form has been opened. */
    opened: (deviceId: string): void => {
      for (const [socket] of liveOf(deviceId)) write(socket, { type: 'opened' });
    },
    start: (): void => {
      // Some changes have no event, such as that of the machine's address.
      polling = setInterval(refresh, tempo.devices.poll);
      polling.unref();
    },
    close: async (): Promise<void> => {
      clearInterval(polling);
      await sockets.close();
    },
  };
};
