/** The live connections of player pages: what each shows, and the way to reach it. */
import { randomUUID } from 'node:crypto';
import { type RawData, WebSocket } from 'ws';
import type { CommandTarget } from '../contract/commands.ts';
import type { Connection } from '../contract/connections.ts';
import { deviceKey } from '../contract/readable.ts';
import {
  type Hello,
  type PageMessage,
  pageMessage,
  type ServiceMessage,
  type Skew,
  type State,
} from '../contract/socket.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import { isOwnClientId } from './client-id.ts';
import { readableLabel } from './label.ts';
import type { Reports } from './reports.ts';
import { createSockets, GOING_AWAY } from './sockets.ts';

/** What is known of a socket before its page has said anything. */
export interface Origin {
  slug: string;
  clientIp: string;
  remoteAddress: string;
  userAgent: string | null;
}

interface Dependencies {
  logs: SourceLogs;
  /** Takes what pages tell that is no part of the snapshot. */
  reports: Pick<Reports, 'take' | 'plays' | 'forget'>;
  /** The revision that a screen's pages should show. */
  revisionOf(slug: string): string | undefined;
  /** The lasting name of a device, where it has one. */
  nameOf(deviceId: string): string | null;
  /** The time of the site, in ms since the epoch. */
  siteTime(): number;
  /** A page has said how well it keeps in step. */
  onSkew(skew: Skew): void;
}

/** One page on its socket, from its hello on. */
interface Peer {
  socket: WebSocket;
  slug: string;
  /** Replaced with every change and never changed itself: a record that is the same object reads the same. */
  connection: Readonly<Connection>;
}

/** Where a device is shown. */
export interface Place {
  connectionId: string;
  deviceId: string;
  slug: string;
}

export interface Hub {
  /** Takes over a socket that has been upgraded. */
  attach(socket: WebSocket, origin: Origin): void;
  /** The live connections of a screen, oldest first. A connection that has not changed is the same object again. */
  snapshot(slug: string): Readonly<Connection>[];
  /** The connections of a screen that a target names: one or none, or all where it names none. */
  select(slug: string, target: CommandTarget): Readonly<Connection>[];
  /** Every place where a device is shown now. */
  places(deviceId: string): Place[];
  /** Calls back whenever a page that names its device has been welcomed. */
  onJoin(listener: (place: Place) => void): void;
  /** Writes one message to connections by id; answers how many it was written to. */
  send(ids: readonly string[], message: ServiceMessage): number;
  /** Writes one message to every connection. */
  sendToAll(message: ServiceMessage): void;
  /** Tells the pages of screens that their content is another. Those of a screen that is gone are let go. */
  announce(slugs: readonly string[]): void;
  /** Gives the connections of a device their name. */
  rename(deviceId: string, clientName: string): void;
  count(): number;
  /** The ids of all devices that are connected now. */
  deviceIds(): Set<string>;
  /** Says goodbye, and hangs up on whoever has not gone within a second. */
  close(): Promise<void>;
}

const HELLO_MS = 5_000;

const timestamp = (): string => new Date().toISOString();

export const createHub = ({ logs, reports, revisionOf, nameOf, siteTime, onSkew }: Dependencies): Hub => {
  const sockets = createSockets();
  const peers = new Map<string, Peer>();
  const joinListeners: ((place: Place) => void)[] = [];

  const live = (): Peer[] => [...peers.values()].filter(({ socket }) => sockets.isLive(socket));
  const peersOf = (slug: string): Peer[] => live().filter((peer) => peer.slug === slug);

  const join = (socket: WebSocket, { slug, ...origin }: Origin, hello: Hello, revision: string): Peer => {
    const isBelieved = isOwnClientId(hello.clientId, hello.clientKey);
    const log = logs(`address ${origin.clientIp}`);
    if (!isBelieved) log.warn({ slug, address: origin.clientIp }, 'a page claimed the client id of another');
    const deviceId = isBelieved ? (hello.deviceId ?? null) : null;
    const at = timestamp();
    const connectionId = randomUUID();
    const clientName = (deviceId === null ? null : nameOf(deviceId)) ?? hello.clientName ?? null;
    const connection: Connection = {
      id: connectionId,
      // Commands for the display whose id it is must not go to this page instead.
      clientId: isBelieved ? hello.clientId : randomUUID(),
      clientName,
      deviceId,
      label: clientName ?? readableLabel(origin.userAgent, connectionId),
      userAgent: origin.userAgent,
      viewport: hello.viewport ?? null,
      page: hello.page ?? `/screen/${slug}`,
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
    const peer: Peer = { socket, slug, connection };
    peers.set(connectionId, peer);
    sockets.write(socket, encode({ type: 'welcome', connectionId, clientName, revision, serverTime: Date.now() }));
    const { label, clientIp: address } = connection;
    log.info({ slug, connectionId, label, address }, 'a page connected');
    if (deviceId !== null) for (const listener of joinListeners) listener({ connectionId, deviceId, slug });
    return peer;
  };

  const change = (peer: Peer, changes: Partial<Connection>): void => {
    peer.connection = { ...peer.connection, ...changes };
  };

  const update = (peer: Peer, state: State): void => {
    const { connection } = peer;
    const { currentSlideId = null } = state;
    if (currentSlideId !== null && currentSlideId !== connection.currentSlideId) {
      reports.plays(connection.id, currentSlideId);
    }
    change(peer, {
      page: state.page ?? connection.page,
      viewport: state.viewport === undefined ? connection.viewport : state.viewport,
      currentSlide: state.currentSlide ?? null,
      currentSlideId,
      currentSlideTitle: state.currentSlideTitle ?? null,
      paused: state.paused ?? connection.paused,
      blackout: state.blackout ?? connection.blackout,
    });
  };

  const attach = (socket: WebSocket, origin: Origin): void => {
    let peer: Peer | null = null;
    const onSeen = (): void => {
      if (peer !== null) change(peer, { lastSeenAt: timestamp() });
    };
    const onPing = (): void => {
      const revision = revisionOf(origin.slug);
      if (peer !== null && revision !== undefined) sockets.write(socket, encode({ type: 'heartbeat', revision }));
    };
    const log = logs(`address ${origin.clientIp}`);
    sockets.add(socket, log, { slug: origin.slug, address: origin.clientIp }, { onSeen, onPing });
    const refuse = (reason: string): void => {
      clearTimeout(deadline);
      sockets.refuse(socket, reason);
    };
    const deadline = setTimeout(refuse, HELLO_MS, 'no hello within 5 s');

    const receive = (message: PageMessage, t1: number): void => {
      if (message.type === 'hello') {
        if (peer !== null) return refuse('hello comes once');
        clearTimeout(deadline);
        const revision = revisionOf(origin.slug);
        if (revision === undefined) return socket.close(GOING_AWAY, 'this screen is gone');
        peer = join(socket, origin, message, revision);
      } else if (peer === null) refuse('hello comes first');
      else if (message.type === 'state') update(peer, message);
      else if (message.type === 'time') {
        sockets.write(socket, encode({ type: 'time', t0: message.t0, t1, t2: siteTime() }));
      } else if (message.type === 'skew') onSkew(message);
      else reports.take({ connectionId: peer.connection.id, slug: origin.slug }, message);
    };

    socket.on('message', (data, isBinary) => {
      // Whoever has been refused has nothing more to say.
      if (socket.readyState !== WebSocket.OPEN) return;
      const receivedAt = siteTime();
      const message = isBinary ? null : decode(data);
      if (message === null) refuse('the message is not valid');
      else receive(message, receivedAt);
    });
    socket.on('close', () => {
      clearTimeout(deadline);
      if (peer === null) return;
      peers.delete(peer.connection.id);
      reports.forget(peer.connection.id);
      log.info({ slug: origin.slug, connectionId: peer.connection.id }, 'a page left');
    });
  };

  const send: Hub['send'] = (ids, message) => {
    const frame = encode(message);
    return ids.filter((id) => {
      const peer = peers.get(id);
      return peer !== undefined && sockets.write(peer.socket, frame);
    }).length;
  };

  const ids = (list: readonly Peer[]): string[] => list.map(({ connection }) => connection.id);

  return {
    attach,
    send,
    sendToAll: (message) => void send([...peers.keys()], message),
    snapshot: (slug) => peersOf(slug).map(({ connection }) => connection),
    select: (slug, { connectionId, clientId }) => {
      const matching = peersOf(slug).filter(
        ({ connection }) =>
          (connectionId == null || connection.id === connectionId) &&
          (clientId == null || connection.clientId === clientId),
      );
      const targeted = connectionId != null || clientId != null;
      const chosen = targeted ? matching.slice(-1) : matching;
      return chosen.map(({ connection }) => connection);
    },
    places: (deviceId) =>
      live()
        .filter(({ connection }) => isOf(connection, deviceId))
        .map(({ connection, slug }) => ({ connectionId: connection.id, deviceId, slug })),
    onJoin: (listener) => {
      joinListeners.push(listener);
    },
    announce: (slugs) => {
      for (const slug of slugs) {
        const revision = revisionOf(slug);
        if (revision !== undefined) send(ids(peersOf(slug)), { type: 'revision', revision });
        else for (const { socket } of peersOf(slug)) socket.close(GOING_AWAY, 'this screen is gone');
      }
    },
    rename: (deviceId, clientName) => {
      for (const peer of peers.values()) {
        if (isOf(peer.connection, deviceId)) change(peer, { clientName, label: clientName });
      }
    },
    count: () => peers.size,
    deviceIds: () => new Set(live().flatMap(({ connection }) => connection.deviceId ?? [])),
    close: sockets.close,
  };
};

const isOf = (connection: Connection, deviceId: string): boolean =>
  connection.deviceId !== null && deviceKey(connection.deviceId) === deviceKey(deviceId);

/** Made once and written to all: a text frame's bytes. */
const encode = (message: ServiceMessage): Buffer => Buffer.from(JSON.stringify(message));

const decode = (data: RawData): PageMessage | null => {
  try {
    return pageMessage.parse(JSON.parse(String(data)));
  } catch {
    return null;
  }
};
