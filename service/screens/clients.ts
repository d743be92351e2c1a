/** The pages that have sent their hello, by connection id and by screen. */
import type { WebSocket } from 'ws';
import type { Connection } from '../contract/connections.ts';

/** A page that has sent its hello. */
export interface Client {
  readonly socket: WebSocket;
  readonly slug: string;
  /** Replaced on every change, never mutated, so that snapshots can detect changes by identity. */
  connection: Readonly<Connection>;
  /** When its slide, or whether it is paused, black or redirected, last changed, ms, monotonic. */
  changedAt: number;
}

export interface Clients {
  add(client: Client): void;
  remove(client: Client): void;
  get(connectionId: string): Client | undefined;
  change(client: Client, changes: Partial<Connection>): void;
  /** All clients, live or not, oldest first. */
  all(): Iterable<Client>;
  /** The live clients, oldest first. */
  live(): Client[];
  /** The live clients of a screen, oldest first. */
  of(slug: string): Client[];
  /** The connections of {@link of}: the same array until one of them changes. */
  connectionsOf(slug: string): readonly Readonly<Connection>[];
  count(): number;
}

/** Whether two show the same, and both move on by themselves or both do not. */
const playsAlike = (a: Connection, b: Connection): boolean =>
  a.currentSlideId === b.currentSlideId && a.paused === b.paused && a.blackout === b.blackout && a.page === b.page;

/** @param isLive whether a page can be reached over its socket */
export const createClients = (isLive: (socket: WebSocket) => boolean): Clients => {
  const byId = new Map<string, Client>();
  const byScreen = new Map<string, Set<Client>>();
  const snapshots = new Map<string, readonly Readonly<Connection>[]>();

  const of = (slug: string): Client[] => [...(byScreen.get(slug) ?? [])].filter(({ socket }) => isLive(socket));

  const isSame = (known: readonly Readonly<Connection>[], clients: readonly Client[]): boolean =>
    known.length === clients.length && clients.every(({ connection }, index) => connection === known[index]);

  return {
    add: (client) => {
      byId.set(client.connection.id, client);
      const clients = byScreen.get(client.slug) ?? new Set();
      byScreen.set(client.slug, clients.add(client));
    },
    remove: (client) => {
      byId.delete(client.connection.id);
      const clients = byScreen.get(client.slug);
      clients?.delete(client);
      if (clients?.size !== 0) return;
      byScreen.delete(client.slug);
      snapshots.delete(client.slug);
    },
    get: (connectionId) => byId.get(connectionId),
    change: (client, changes) => {
      const before = client.connection;
      client.connection = { ...before, ...changes };
      if (!playsAlike(before, client.connection)) client.changedAt = performance.now();
    },
    all: () => byId.values(),
    live: () => [...byId.values()].filter(({ socket }) => isLive(socket)),
    of,
    connectionsOf: (slug) => {
      const clients = of(slug);
      const known = snapshots.get(slug) ?? [];
      if (isSame(known, clients)) return known;
      const next = clients.map(({ connection }) => connection);
      snapshots.set(slug, next);
      return next;
    },
    count: () => byId.size,
  };
};
