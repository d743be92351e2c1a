/** The live connections of player pages: their state, and messages to them. */
import { randomUUID } from 'node:crypto';
import { type RawData, WebSocket } from 'ws';
import { partyOf } from '../auth/throttle.ts';
import type { CommandTarget } from '../contract/commands.ts';
import { type Connection, reportedOf } from '../contract/connections.ts';
import { readFields } from '../contract/fields.ts';
import type { PagePlay } from '../contract/plays.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import {
  type Hello,
  type PageMessage,
  pageMessage,
  type ServiceMessage,
  type Skew,
  type State,
  type VideoReport,
} from '../contract/socket.ts';
import { cutText } from '../contract/terms.ts';
import { createEmitter } from '../domain/emitter.ts';
import { withoutCredentials } from '../domain/media-names.ts';
import type { EpochMs } from '../domain/time.ts';
import { createSockets, frameOf, GOING_AWAY } from '../http/sockets.ts';
import type { ServiceContext } from '../module.ts';
import { inSlices, type Steps } from '../platform/slices.ts';
import { type Client, createClients, isOwnClientId, readableLabel } from './clients.ts';
import type { Reports } from './reports.ts';

/** The page as anyone may read it: without the user and password of the address that a redirect shows. */
const publicPage = ({ page }: Pick<State, 'page'>) => page && withoutCredentials(page);

interface Revision {
  revision: string;
  plan?: string | undefined;
}

/** What is known about a socket before the hello of its page. */
export interface Origin {
  slug: string;
  clientIp: string;
  remoteAddress: string;
  userAgent: string | null;
}

interface Dependencies {
  /** Whether a page is of a display: what others count and lack stands nowhere that everybody reads. */
  isDisplay(page: Pick<Connection, 'clientIp' | 'deviceId'> & { proven: boolean }): boolean;
  /** Called with the frames that a page counted. */
  onVideo(page: { connectionId: string; slug: string }, report: VideoReport): void;
  /** Called when a page shows what it was asked to identify. */
  onIdentified(connectionId: string): void;
  /** Receives the reports of pages that are not part of the snapshot. */
  reports: Pick<Reports, 'accept' | 'plays' | 'forget'>;
  /** Whether a page has proved that it is a device. @param address of the client */
  isProof(deviceId: string, proof: string, address: string): boolean;
  /** Whether a page is the device only with a proof. */
  mustProve(deviceId: string): boolean;
  /** The current revision of a screen, and of its plan if it has one; undefined: the screen does not exist. */
  revisionOf(slug: string): Revision | undefined;
  /** The saved name of a device; null: it has none. */
  nameOf(deviceId: string): string | null;
  siteTime: { now(): EpochMs; isPageTime(): boolean | null };
  /** Called when a page reports its deviation from the site time. */
  onSkew(skew: Skew): void;
}

export interface LivePage {
  slug: string;
  connection: Readonly<Connection>;
  /** Since its slide came on, or the page was paused, resumed or redirected, ms. */
  unchangedMs: number;
}

export interface DeviceLocation {
  connectionId: string;
  deviceId: string;
  slug: string;
  /** Whether the page has proved that it is the device. */
  proven: boolean;
}

/** Stores plays that a page reports; resolves with the ids of those that are durable. Never rejects. */
export type PlayStore = (
  plays: readonly PagePlay[],
  page: { slug: string; connection: Readonly<Connection>; proven: boolean },
) => Promise<readonly string[]>;

export type Hub = ReturnType<typeof createHub>;

const HELLO_MS = 5_000;

const timestamp = (): string => new Date().toISOString();

export const createHub = (
  { logs, now, random, ids: { nodeId }, options }: Pick<ServiceContext, 'logs' | 'now' | 'random' | 'ids' | 'options'>,
  { isDisplay, onIdentified, onVideo, reports, isProof, mustProve, revisionOf, nameOf, siteTime, onSkew }: Dependencies,
) => {
  const isExtended = options.variant === 'extended';
  const sockets = createSockets();
  const clients = createClients(sockets.isLive);
  const hellos = createEmitter<[deviceId: string]>();
  const joins = createEmitter<[DeviceLocation]>();
  let storePlays: PlayStore = async () => [];

  const prove = (client: Client, { proof }: Hello): void => {
    const { deviceId, clientIp } = client.connection;
    if (deviceId !== null && proof != null) client.proven ||= isProof(deviceId, proof, clientIp);
  };

  /** Whether a page would have to prove that it is the device that it says. */
  const isUnproven = ({ connection: { deviceId }, proven }: Client): boolean =>
    deviceId !== null && !proven && mustProve(deviceId);

  /** Whether what the device is told and asked goes to this page. */
  const isDevice = (client: Client): boolean => client.connection.deviceId !== null && !isUnproven(client);

  const announce = (client: Client): void => {
    const { slug, proven, connection } = client;
    const { id: connectionId, deviceId } = connection;
    if (deviceId !== null && isDevice(client)) joins.emit({ connectionId, deviceId, slug, proven });
  };

  const welcome = ({ socket, connection, proven }: Client, revision: Revision): void => {
    const { id: connectionId, clientName } = connection;
    const message = { type: 'welcome', connectionId, ...revision, serverTime: now(), nodeId } as const;
    sockets.write(socket, frameOf(isExtended ? { ...message, clientName, proven } : message));
  };

  const join = (socket: WebSocket, { slug, ...origin }: Origin, hello: Hello, revision: Revision): Client => {
    const isVerified = isOwnClientId(hello.clientId, hello.clientKey);
    const log = logs(`address ${partyOf(origin.clientIp)}`);
    if (!isVerified)
      log.warn({ slug, address: origin.clientIp }, 'a page sent the client id of another page without its key');
    const deviceId = isVerified ? (hello.deviceId ?? null) : null;
    const at = timestamp();
    const connectionId = randomUUID();
    const clientName = (deviceId === null ? null : nameOf(deviceId)) ?? hello.clientName ?? null;
    const connection: Connection = {
      id: connectionId,
      // Commands for the owner of the id must not reach this page.
      clientId: isVerified ? hello.clientId : randomUUID(),
      clientName,
      deviceId,
      label: (isExtended ? clientName : null) ?? readableLabel(origin.userAgent, connectionId),
      userAgent: origin.userAgent,
      ...reportedOf({ ...hello, page: publicPage(hello) ?? `/screen/${slug}` }, null),
      clientIp: origin.clientIp,
      remoteAddress: origin.remoteAddress,
      connectedAt: at,
      lastSeenAt: at,
    };
    const client: Client = { socket, slug, connection, changedAt: performance.now(), proven: false };
    prove(client, hello);
    clients.add(client);
    welcome(client, revision);
    const { label, clientIp: address } = connection;
    log.info({ slug, connectionId, label, address }, 'a page connected');
    if (deviceId !== null) hellos.emit(deviceId);
    announce(client);
    return client;
  };

  const update = (client: Client, state: State): void => {
    const { connection } = client;
    const { currentSlideId = null } = state;
    if (currentSlideId !== null && currentSlideId !== connection.currentSlideId) {
      reports.plays(connection.id, currentSlideId);
    }
    clients.change(client, reportedOf({ ...state, page: publicPage(state) }, connection));
  };

  /** The page repeats what is not acknowledged. */
  const acknowledge = async (
    { socket, slug, connection, proven }: Client,
    plays: readonly PagePlay[],
  ): Promise<void> => {
    const play_ids = await storePlays(plays, { slug, connection, proven });
    if (play_ids.length > 0) sockets.write(socket, frameOf({ type: 'ack', play_ids: [...play_ids] }));
  };

  const attach = (socket: WebSocket, origin: Origin): void => {
    let client: Client | null = null;
    const onSeen = (): void => {
      if (client !== null) clients.seen(client, timestamp());
    };
    const onPing = (): void => {
      const revision = revisionOf(origin.slug);
      if (client !== null && revision !== undefined) sockets.write(socket, frameOf({ type: 'heartbeat', ...revision }));
    };
    const log = logs(`address ${partyOf(origin.clientIp)}`);
    const onClosing = (): void => {
      if (client !== null) clients.outdate(client.slug);
    };
    sockets.add(socket, log, { slug: origin.slug, address: origin.clientIp }, { onSeen, onPing, onClosing });
    const refuse = (reason: string): void => {
      clearTimeout(deadline);
      sockets.refuse(socket, reason);
    };
    const deadline = setTimeout(refuse, HELLO_MS, 'no hello within 5 s');

    const receive = (message: PageMessage, t1: number): void => {
      if (message.type === 'hello') {
        clearTimeout(deadline);
        const revision = revisionOf(origin.slug);
        if (revision === undefined) return socket.close(GOING_AWAY, 'this screen is gone');
        if (client !== null) {
          if (message.proof == null || message.deviceId !== client.connection.deviceId) {
            return refuse('a second hello is taken only with a proof of the same device');
          }
          const wasProven = client.proven;
          prove(client, message);
          welcome(client, revision);
          if (client.proven && !wasProven) announce(client);
          return;
        }
        client = join(socket, origin, message, revision);
      } else if (client === null) refuse('hello comes first');
      else if (message.type === 'state') update(client, message);
      else if (message.type === 'time') {
        const followed = siteTime.isPageTime();
        sockets.write(socket, frameOf({ type: 'time', t0: message.t0, t1, t2: siteTime.now(), followed }));
      } else if (message.type === 'skew') onSkew(message);
      else if (message.type === 'identified') onIdentified(client.connection.id);
      else if (message.type === 'video') {
        const { connection, proven } = client;
        if (isDisplay({ ...connection, proven })) onVideo({ connectionId: connection.id, slug: origin.slug }, message);
      } else if (message.type === 'plays') void acknowledge(client, message.plays);
      else {
        // A step back and on may lead to the same slide.
        if (message.type === 'swap') client.changedAt = performance.now();
        reports.accept({ connectionId: client.connection.id, slug: origin.slug }, message);
      }
    };

    socket.on('message', (data, isBinary) => {
      // Messages after a refusal are ignored.
      if (socket.readyState !== WebSocket.OPEN) return;
      const receivedAt = siteTime.now();
      const message = isBinary ? 'a message must be a text of JSON' : decode(data);
      if (typeof message === 'string') refuse(cutText(message, MAX_REASON));
      else receive(message, receivedAt);
    });
    socket.on('close', () => {
      clearTimeout(deadline);
      if (client === null) return;
      clients.remove(client);
      reports.forget(client.connection.id);
      log.info({ slug: origin.slug, connectionId: client.connection.id }, 'a page disconnected');
    });
  };

  /** @returns to how many it was written */
  const broadcast = (recipients: Iterable<Client | undefined>, message: ServiceMessage): number => {
    const frame = frameOf(message);
    let sent = 0;
    for (const client of recipients) if (client !== undefined && sockets.write(client.socket, frame)) sent += 1;
    return sent;
  };

  /** With thousands of pages, commands are sent in between. A newer revision replaces this one. */
  function* revisionSteps(slug: string, revision: Revision, spreadMs: number): Steps<void> {
    const frame = frameOf({ type: 'revision', ...revision });
    const isCurrent = (): boolean => revisionOf(slug)?.revision === revision.revision;
    for (const { socket } of clients.of(slug)) {
      if (!isCurrent()) return;
      if (spreadMs === 0) sockets.write(socket, frame);
      else setTimeout(() => isCurrent() && sockets.write(socket, frame), random() * spreadMs).unref();
      yield;
    }
  }

  const select = (among: readonly Client[], { connectionId, clientId }: CommandTarget): Readonly<Connection>[] => {
    const matching = among.filter(
      ({ connection }) =>
        (connectionId == null || connection.id === connectionId) &&
        (clientId == null || connection.clientId === clientId),
    );
    const targeted = connectionId != null || clientId != null;
    const chosen = targeted ? matching.slice(-1) : matching;
    return chosen.map(({ connection }) => connection);
  };

  return {
    /** Takes ownership of a socket after the upgrade. */
    attach,
    /** Sends a message to connections by id. @returns to how many it was written */
    send: (ids: readonly string[], message: ServiceMessage): number => broadcast(ids.map(clients.get), message),
    /** Asks a connection for a sign of life; `then` is called with the answer, unless the connection ends or is asked again. */
    whenHeard: (connectionId: string, then: () => void): void => {
      const client = clients.get(connectionId);
      if (client !== undefined) sockets.whenHeard(client.socket, then);
    },
    sendToAll: (message: ServiceMessage): void => void broadcast(clients.all(), message),
    /** The live connections of a screen, oldest first: the same array until one of them changes. */
    snapshot: clients.connectionsOf,
    /** All live pages, oldest connection first. Those that would have to prove their device are of none. */
    pages: (): LivePage[] => {
      const at = performance.now();
      return clients.live().map((client) => ({
        slug: client.slug,
        connection: isUnproven(client) ? { ...client.connection, deviceId: null } : client.connection,
        unchangedMs: at - client.changedAt,
      }));
    },
    /** Whether a connection is of a display now: its proof can come late. */
    isDisplay: (connectionId: string): boolean => {
      const client = clients.get(connectionId);
      return client !== undefined && isDisplay({ ...client.connection, proven: client.proven });
    },
    /** The ids of the live connections that would have to prove their device. */
    unproven: (): string[] =>
      clients
        .live()
        .filter(isUnproven)
        .map(({ connection }) => connection.id),
    /** The connections of a screen that a target selects: at most one, or all if the target is empty. */
    select: (slug: string, target: CommandTarget) => select(clients.of(slug), target),
    /** As `select`, of any screen where the target is not on this one. */
    selectAnywhere: (slug: string, target: CommandTarget): Readonly<Connection>[] => {
      const here = select(clients.of(slug), target);
      return here.length > 0 ? here : select(clients.live(), target);
    },
    /** The live connections of a device, without those that would have to prove it. */
    locationsOf: (deviceId: string): DeviceLocation[] =>
      clients
        .live()
        .filter((client) => isOfDevice(client.connection, deviceId) && isDevice(client))
        .map(({ connection, slug, proven }) => ({ connectionId: connection.id, deviceId, slug, proven })),
    /** Sets where the plays that pages report are stored. */
    onPlays: (store: PlayStore): void => {
      storePlays = store;
    },
    /** Calls `listener` with the device that a page says to be, proved or not. */
    onHello: hellos.on,
    /** Calls `listener` after the welcome of each page of a device, and again once the page has proved it later. */
    onJoin: joins.on,
    /**
     * Sends the pages of screens their new revision. The sockets of deleted screens are closed.
     * @param spreadMs each page gets it at a random moment within
     */
    broadcastRevisions: (slugs: readonly string[], spreadMs = 0): void => {
      for (const slug of slugs) {
        const revision = revisionOf(slug);
        if (revision !== undefined) void inSlices(revisionSteps(slug, revision, spreadMs));
        else for (const { socket } of clients.of(slug)) socket.close(GOING_AWAY, 'this screen is gone');
      }
    },
    /** Sets the name of the connections of a device. */
    rename: (deviceId: string, clientName: string): void => {
      for (const client of clients.all()) {
        if (isOfDevice(client.connection, deviceId))
          clients.change(client, isExtended ? { clientName, label: clientName } : { clientName });
      }
    },
    count: clients.count,
    /** The number of live connections by screen; screens without one are absent. */
    counts: (): ReadonlyMap<string, number> => {
      const counts = new Map<string, number>();
      for (const { slug } of clients.live()) counts.set(slug, (counts.get(slug) ?? 0) + 1);
      return counts;
    },
    /** The ids of all devices that are connected now. */
    deviceIds: (): Set<string> =>
      new Set(
        clients
          .live()
          .filter(isDevice)
          .flatMap(({ connection }) => connection.deviceId ?? []),
      ),
    /** Closes all sockets with 1001; terminates those that are still open after 1 s. */
    close: sockets.close,
  };
};

/** Whether the page of a connection is of the device. */
export const isOfDevice = (connection: Readonly<Connection>, deviceId: string): boolean =>
  connection.deviceId !== null && canonicalDeviceId(connection.deviceId) === canonicalDeviceId(deviceId);

/** Of a close frame (RFC 6455, 5.5.1), bytes; the reasons are ASCII. */
const MAX_REASON = 123;

/** @returns what is wrong with it, as a sentence that names the field, if it is no message of a page */
const decode = (data: RawData): PageMessage | string => {
  let message: unknown;
  try {
    message = JSON.parse(String(data));
  } catch {
    return 'a message must be JSON';
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    return 'a message must be a JSON object';
  try {
    return readFields(pageMessage, message as Record<string, unknown>);
  } catch (error) {
    return (error as Error).message;
  }
};
