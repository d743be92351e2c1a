/** The sockets of landing pages: each hears the status of its device, on every change, and says nothing itself. */
import type { WebSocket } from 'ws';
import type { LandingMessage } from '../contract/onboarding.ts';
import { deviceKey } from '../contract/readable.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import { createSockets } from '../screens/sockets.ts';

type StatusMessage = Extract<LandingMessage, { type: 'status' }>;

interface Viewer {
  deviceId: string;
  /** What there is to say now. */
  status: () => StatusMessage;
  /** The last that was said. */
  said: string;
}

export interface Landing {
  /** Takes over a socket of a client at an address, and sends it the status. */
  attach(socket: WebSocket, address: string, deviceId: string, status: () => StatusMessage): void;
  /** Tells the pages of a device how things stand; answers how many it was written to. */
  tell(deviceId: string): number;
  /** Whether a page of the device is connected. */
  has(deviceId: string): boolean;
  /** Tells every page whose status is another than it knows. */
  refresh(): void;
  /** Tells the pages of a device that its form has been opened. */
  opened(deviceId: string): void;
  close(): Promise<void>;
}

/** What changes without anybody saying so, the machine's address above all, is looked at this often. */
const LOOK_MS = 2_000;

export const createLanding = (logs: SourceLogs): Landing => {
  const sockets = createSockets();
  const viewers = new Map<WebSocket, Viewer>();

  const write = (socket: WebSocket, message: string): boolean => sockets.write(socket, Buffer.from(message));

  const say = (socket: WebSocket, viewer: Viewer): boolean => {
    viewer.said = JSON.stringify(viewer.status());
    return write(socket, viewer.said);
  };

  const refresh = (): void => {
    for (const [socket, viewer] of viewers) {
      if (JSON.stringify(viewer.status()) !== viewer.said) say(socket, viewer);
    }
  };
  const look = setInterval(refresh, LOOK_MS);
  look.unref();

  const liveOf = (deviceId: string) =>
    [...viewers].filter(
      ([socket, viewer]) => deviceKey(viewer.deviceId) === deviceKey(deviceId) && sockets.isLive(socket),
    );

  return {
    attach: (socket, address, deviceId, status) => {
      const viewer: Viewer = { deviceId, status, said: '' };
      const log = logs(`address ${address}`);
      sockets.add(socket, log, { deviceId, address });
      viewers.set(socket, viewer);
      socket.on('message', () => sockets.refuse(socket, 'a landing page only listens'));
      socket.on('close', () => viewers.delete(socket));
      say(socket, viewer);
      log.info({ deviceId, address }, 'a landing page connected');
    },
    tell: (deviceId) => liveOf(deviceId).filter(([socket, viewer]) => say(socket, viewer)).length,
    has: (deviceId) => liveOf(deviceId).length > 0,
    refresh,
    opened: (deviceId) => {
      for (const [socket] of liveOf(deviceId))
        write(socket, JSON.stringify({ type: 'opened' } satisfies LandingMessage));
    },
    close: async () => {
      clearInterval(look);
      await sockets.close();
    },
  };
};
