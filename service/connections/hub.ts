/** The live connections of player pages: what each shows, and the way to reach it. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type RawData, WebSocket } from 'ws';
import {
  type CommandTarget,
  type Connection,
  type Hello,
  type PageMessage,
  pageMessage,
  type ServiceMessage,
  type State,
} from '../wire.ts';
import { readableLabel } from './label.ts';

/** What is known of a socket before its page has said anything. */
export interface Origin {
  slug: string;
  clientIp: string;
  remoteAddress: string;
  userAgent: string | null;
}

interface Dependencies {
  log: Logger;
  /** The revision that a screen's pages should show. */
  revisionOf(slug: string): string | undefined;
  /** The lasting name of a device, where it has one. */
  nameOf(deviceId: string): string | null;
}

/** One page on its socket, from its hello on. */
interface Peer {
  socket: WebSocket;
  slug: string;
  connection: Connection;
  /** For "newest" where clocks are too coarse. */
  order: number;
  lastSeen: number;
}

export interface Hub {
  /** Takes over a socket that has been upgraded. */
  attach(socket: WebSocket, origin: Origin): void;
  /** The live connections of a screen, oldest first. */
  snapshot(slug: string): Connection[];
  /** The connections of a screen that a target names: one or none, or all where it names none. */
  select(slug: string, target: CommandTarget): Connection[];
  /** Writes one message to connections by id; answers how many it was written to. */
  send(ids: readonly string[], message: ServiceMessage): number;
  /** Tells the pages of screens that their content is another. Those of a screen that is gone are let go. */
  announce(slugs: readonly string[]): void;
  /** Gives the connections of a device their name. */
  rename(deviceId: string, clientName: string): void;
  count(): number;
  /** Says goodbye, and hangs up on whoever has not gone within a second. */
  close(): Promise<void>;
}

const HELLO_MS = 5_000;
const PING_MS = 15_000;
const SILENT_MS = 40_000;
const GOODBYE_MS = 1_000;
/** A page that leaves more than this unread is gone for all practical purposes. */
const MOST_UNREAD_BYTES = 1024 ** 2;

/** WebSocket close codes of RFC 6455. */
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;

const timestamp = (): string => new Date().toISOString();

export const createHub = ({ log, revisionOf, nameOf }: Dependencies): Hub => {
  const sockets = new Set<WebSocket>();
  const peers = new Map<string, Peer>();
  let joined = 0;

  const peersOf = (slug: string): Peer[] => {
    const silent = Date.now() - SILENT_MS;
    return [...peers.values()].filter((peer) => peer.slug === slug && peer.lastSeen > silent);
  };

  const label = (connection: Connection): string =>
    connection.clientName ?? readableLabel(connection.userAgent, connection.id);

  const join = (socket: WebSocket, { slug, ...origin }: Origin, hello: Hello, revision: string): Peer => {
    const deviceId = hello.deviceId ?? null;
    const at = timestamp();
    const connection: Connection = {
      id: randomUUID(),
      clientId: hello.clientId,
      clientName: (deviceId === null ? null : nameOf(deviceId)) ?? hello.clientName ?? null,
      deviceId,
      label: '',
      userAgent: origin.userAgent,
      viewport: hello.viewport ?? null,
      page: hello.page,
      currentSlide: null,
      currentSlideId: null,
      currentSlideTitle: null,
      paused: false,
      blackout: false,
      clientIp: origin.clientIp,
      remoteAddress: origin.remoteAddress,
      connectedAt: at,
      lastSeenAt: at,
    };
    connection.label = label(connection);
    const peer: Peer = { socket, slug, connection, order: joined++, lastSeen: Date.now() };
    peers.set(connection.id, peer);
    const { id: connectionId, clientName } = connection;
    write(peer, encode({ type: 'welcome', connectionId, clientName, revision, serverTime: Date.now() }));
    log.info({ slug, connectionId, label: connection.label, address: connection.clientIp }, 'a page connected');
    return peer;
  };

  const update = ({ connection }: Peer, state: State): void => {
    const { page, viewport, currentSlide, currentSlideId, currentSlideTitle, paused, blackout } = state;
    connection.page = page;
    if (viewport !== undefined) connection.viewport = viewport;
    connection.currentSlide = currentSlide ?? null;
    connection.currentSlideId = currentSlideId ?? null;
    connection.currentSlideTitle = currentSlideTitle ?? null;
    connection.paused = paused;
    connection.blackout = blackout;
  };

  /** False where a socket is too far behind to be worth another byte. */
  const write = ({ socket, connection, slug }: Peer, frame: Buffer): boolean => {
    if (socket.readyState !== WebSocket.OPEN) return false;
    if (socket.bufferedAmount > MOST_UNREAD_BYTES) {
      log.warn({ slug, connectionId: connection.id }, 'a page that reads nothing is dropped');
      socket.terminate();
      return false;
    }
    socket.send(frame, { binary: false });
    return true;
  };

  const attach = (socket: WebSocket, origin: Origin): void => {
    sockets.add(socket);
    let peer: Peer | null = null;
    const refuse = (reason: string): void => {
      log.warn({ slug: origin.slug, address: origin.clientIp, reason }, 'a socket broke the protocol');
      socket.close(POLICY_VIOLATION, reason);
    };
    const deadline = setTimeout(refuse, HELLO_MS, 'no hello within 5 s');

    const receive = (message: PageMessage): void => {
      if (message.type === 'hello') {
        if (peer !== null) return refuse('hello comes once');
        clearTimeout(deadline);
        const revision = revisionOf(origin.slug);
        if (revision === undefined) return socket.close(GOING_AWAY, 'this screen is gone');
        peer = join(socket, origin, message, revision);
      } else if (peer === null) refuse('hello comes first');
      else if (message.type === 'state') update(peer, message);
      else log.warn({ slug: origin.slug, slideId: message.slideId, reason: message.reason }, 'a slide was skipped');
    };

    const seen = (): void => {
      if (peer === null) return;
      peer.lastSeen = Date.now();
      peer.connection.lastSeenAt = timestamp();
    };

    socket.on('message', (data, isBinary) => {
      seen();
      const message = isBinary ? null : decode(data);
      if (message === null) refuse('the message is not valid');
      else receive(message);
    });
    socket.on('pong', seen);
    socket.on('error', (error) => log.debug({ err: error, slug: origin.slug }, 'a socket failed'));
    socket.on('close', () => {
      clearTimeout(deadline);
      sockets.delete(socket);
      if (peer === null) return;
      peers.delete(peer.connection.id);
      log.info({ slug: origin.slug, connectionId: peer.connection.id }, 'a page left');
    });
  };

  const heartbeat = setInterval(() => {
    const now = Date.now();
    for (const peer of peers.values()) {
      if (now - peer.lastSeen > SILENT_MS) peer.socket.terminate();
      else peer.socket.ping();
    }
  }, PING_MS);
  heartbeat.unref();

  const send: Hub['send'] = (ids, message) => {
    const frame = encode(message);
    return ids.filter((id) => {
      const peer = peers.get(id);
      return peer !== undefined && write(peer, frame);
    }).length;
  };

  const ids = (list: readonly Peer[]): string[] => list.map(({ connection }) => connection.id);

  return {
    attach,
    send,
    snapshot: (slug) => peersOf(slug).map(({ connection }) => ({ ...connection })),
    select: (slug, { connectionId, clientId }) => {
      const matching = peersOf(slug).filter(
        ({ connection }) =>
          (connectionId == null || connection.id === connectionId) &&
          (clientId == null || connection.clientId === clientId),
      );
      const targeted = connectionId != null || clientId != null;
      const chosen = targeted ? matching.toSorted((a, b) => b.order - a.order).slice(0, 1) : matching;
      return chosen.map(({ connection }) => connection);
    },
    announce: (slugs) => {
      for (const slug of slugs) {
        const revision = revisionOf(slug);
        if (revision !== undefined) send(ids(peersOf(slug)), { type: 'revision', revision });
        else for (const { socket } of peersOf(slug)) socket.close(GOING_AWAY, 'this screen is gone');
      }
    },
    rename: (deviceId, clientName) => {
      for (const { connection } of peers.values()) {
        if (connection.deviceId !== deviceId) continue;
        connection.clientName = clientName;
        connection.label = label(connection);
      }
    },
    count: () => peers.size,
    close: async () => {
      clearInterval(heartbeat);
      const gone = [...sockets].map((socket) => once(socket, 'close'));
      for (const socket of sockets) socket.close(GOING_AWAY, 'the service is stopping');
      await Promise.race([Promise.all(gone), delay(GOODBYE_MS, undefined, { ref: false })]);
      for (const socket of sockets) socket.terminate();
    },
  };
};

/** Made once and written to all: a text frame's bytes. */
const encode = (message: ServiceMessage): Buffer => Buffer.from(JSON.stringify(message));

const decode = (data: RawData): PageMessage | null => {
  try {
    return pageMessage.parse(JSON.parse(String(data)));
  } catch {
    return null;
  }
};
