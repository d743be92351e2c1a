/** The pages that have sent their hello, by connection id and by screen. */
import type { WebSocket } from 'ws';
import { sha256Hex } from '../auth/sign.ts';
import type { Connection } from '../contract/connections.ts';
import { clientIdOf, keyedIdPrefix } from '../domain/client-id.ts';

/** A page that has sent its hello. */
export interface Client {
  readonly socket: WebSocket;
  readonly slug: string;
  /** Replaced on every change, never mutated, so that snapshots can detect changes by identity. */
  connection: Readonly<Connection>;
  /** When its slide, or whether it is paused, black or redirected, last changed, ms, monotonic. */
  changedAt: number;
  /** Whether the page has proved that it is the device of its connection. */
  proven: boolean;
}

/** Whether two show the same, and both advance automatically or both do not. */
const playsAlike = (a: Connection, b: Connection): boolean =>
  a.currentSlideId === b.currentSlideId && a.paused === b.paused && a.blackout === b.blackout && a.page === b.page;

interface ScreenClients {
  clients: Set<Client>;
  /** Their connections when none has changed since; else null. */
  known: readonly Readonly<Connection>[] | null;
  /** Until when `known` is valid if nothing else changes, ms, monotonic. */
  validUntil: number;
}

/** Silence ends a connection after 40 s; so long a list of connections may be out of date by it. */
const CHECK_MS = 1_000;
/** With many clients one answers a ping at any moment: their list is not rebuilt for each answer. */
const MANY_CLIENTS = 500;
const SEEN_MS = 100;

/** @param isLive whether a page can be reached over its socket */
export const createClients = (isLive: (socket: WebSocket) => boolean) => {
  const byId = new Map<string, Client>();
  const byScreen = new Map<string, ScreenClients>();

  const of = (slug: string): Client[] =>
    [...(byScreen.get(slug)?.clients ?? [])].filter(({ socket }) => isLive(socket));

  const outdate = (slug: string): void => {
    const screen = byScreen.get(slug);
    if (screen !== undefined) screen.known = null;
  };

  return {
    add: (client: Client): void => {
      byId.set(client.connection.id, client);
      const screen = byScreen.get(client.slug) ?? { clients: new Set(), known: null, validUntil: 0 };
      screen.clients.add(client);
      byScreen.set(client.slug, screen);
      outdate(client.slug);
    },
    remove: (client: Client): void => {
      byId.delete(client.connection.id);
      const screen = byScreen.get(client.slug);
      screen?.clients.delete(client);
      if (screen?.clients.size === 0) byScreen.delete(client.slug);
      else outdate(client.slug);
    },
    get: (connectionId: string): Client | undefined => byId.get(connectionId),
    change: (client: Client, changes: Partial<Connection>): void => {
      const before = client.connection;
      client.connection = { ...before, ...changes };
      if (!playsAlike(before, client.connection)) client.changedAt = performance.now();
      outdate(client.slug);
    },
    /** Records a sign of life. @param at ISO 8601 */
    seen: (client: Client, at: string): void => {
      client.connection = { ...client.connection, lastSeenAt: at };
      const screen = byScreen.get(client.slug);
      if (screen === undefined || screen.clients.size < MANY_CLIENTS) return outdate(client.slug);
      screen.validUntil = Math.min(screen.validUntil, performance.now() + SEEN_MS);
    },
    /** A client of the screen may no longer be live: a close has begun. */
    outdate,
    /** All clients, live or not, oldest first. */
    all: (): Iterable<Client> => byId.values(),
    /** The live clients, oldest first. */
    live: (): Client[] => [...byId.values()].filter(({ socket }) => isLive(socket)),
    /** The live clients of a screen, oldest first. */
    of,
    /** The connections of {@link of}: the same array until one of them changes. */
    connectionsOf: (slug: string): readonly Readonly<Connection>[] => {
      const screen = byScreen.get(slug);
      if (screen === undefined) return [];
      // Thousands of readers a second ask for this, so that nothing is done for each client.
      if (screen.known !== null && performance.now() <= screen.validUntil) return screen.known;
      const next = of(slug).map(({ connection }) => connection);
      const isSame = screen.known?.length === next.length && screen.known.every((each, index) => each === next[index]);
      screen.known = isSame ? screen.known : next;
      screen.validUntil = performance.now() + CHECK_MS;
      return screen.known ?? next;
    },
    count: (): number => byId.size,
  };
};

/**
 * Whether a page may use this id. Client ids are part of the public snapshot, so any client can send any of them; an id that
 * is the hash of a key needs the key, which only its page has. Other ids are accepted unchecked.
 */
export const isOwnClientId = (clientId: string, clientKey: string | null | undefined): boolean =>
  !clientId.startsWith(keyedIdPrefix) || (clientKey != null && clientIdOf(clientKey, sha256Hex) === clientId);

/** The order matters: most user agents contain the names of other browsers too. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/Electron\//, 'Kiosk'],
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/HeadlessChrome\//, 'Headless Chrome'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Web0S|webOS/, 'webOS'],
  [/Tizen/, 'Tizen'],
  [/Linux|X11/, 'Linux'],
];

const find = (names: typeof browsers, userAgent: string): string | undefined =>
  names.find(([pattern]) => pattern.test(userAgent))?.[1];

/** A short readable label for a connection without a name: `Chrome on Windows 3f9a`. */
export const readableLabel = (userAgent: string | null, id: string): string => {
  const browser = find(browsers, userAgent ?? '') ?? 'Player';
  const system = find(systems, userAgent ?? '');
  return [browser, ...(system === undefined ? [] : ['on', system]), id.slice(0, 4)].join(' ');
};
