/** The connections of a screen on all boxes, and the answers with them. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { type Connection, connection, connectionSnapshot } from '../contract/connections.ts';
import type { PeerConnections } from '../contract/peers.ts';
import type { Screen } from '../contract/playlist.ts';
import { extendedFields, type Variant } from '../contract/terms.ts';
import { perObject } from '../domain/collections.ts';
import { type PreparedAnswer, prepareAnswer } from '../http/prepared.ts';
import type { Peers } from '../peers/index.ts';
import { createBatcher } from '../platform/batcher.ts';
import { type Hub, isOfDevice } from './hub.ts';

/** The connections of a screen, on all boxes. */
export interface Snapshot {
  /** Oldest first. */
  connections: readonly Readonly<Connection>[];
  /** Whether a known peer did not answer in time. */
  degraded: boolean;
}

/**
 * Resolves with the connections of a screen. Concurrent callers that wait for the same round get the same object.
 * @param relayed whether the request is from a peer; then it is not forwarded
 */
export type TakeSnapshot = (slug: string, relayed: boolean) => Promise<Snapshot>;

/** Resolves with the connections of all screens, on all boxes. */
export type TakeAll = () => Promise<Snapshot>;

export type TakeLocally = ReturnType<typeof createSnapshot>['takeLocally'];

/** Snapshots are public, and each round sends a signed request to every peer, so rounds are limited to four a second. */
const ROUND_MS = 250;
/** Asks for all screens; no slug. */
const ALL = '*';

/** What a round tells whom asked for a screen, or for all. */
interface Round {
  snapshot: Snapshot;
  answers: readonly PeerConnections[];
}

interface Dependencies {
  slugs(): string[];
  hub: Pick<Hub, 'snapshot' | 'locationsOf'>;
  peers: Pick<Peers, 'isAlone' | 'settled' | 'broadcast'>;
}

const oldestFirst = (connections: readonly Readonly<Connection>[]): Readonly<Connection>[] =>
  connections.toSorted((a, b) => Date.parse(a.connectedAt) - Date.parse(b.connectedAt));

export const createSnapshot = ({ slugs, hub, peers }: Dependencies) => {
  const local = (slug: string): Snapshot => ({ connections: hub.snapshot(slug), degraded: false });

  /** The snapshot if no peer has to be asked; undefined: use {@link TakeSnapshot}. */
  const takeLocally = (slug: string): Snapshot | undefined => (peers.isAlone() ? local(slug) : undefined);

  const takeFromRound = createBatcher<Round>({
    intervalMs: ROUND_MS,
    ask: async (keys) => {
      const { answers, degraded } = await peers.broadcast('screens.connections', keys.includes(ALL) ? undefined : keys);
      const there = answers.flatMap(({ screens }) => screens);
      const merge = (key: string): Round => {
        const asked = there.filter(({ slug }) => key === ALL || slug === key).flatMap(({ connections }) => connections);
        const here = (key === ALL ? slugs() : [key]).flatMap(hub.snapshot);
        return { snapshot: { connections: oldestFirst([...here, ...asked]), degraded }, answers };
      };
      return new Map(keys.map((key) => [key, merge(key)]));
    },
  });

  const takeSnapshot: TakeSnapshot = async (slug, relayed) => {
    if (relayed) return local(slug);
    await peers.settled();
    return takeLocally(slug) ?? (await takeFromRound(slug))?.snapshot ?? local(slug);
  };

  const askAll = async (): Promise<Round> => {
    await peers.settled();
    const round = peers.isAlone() ? undefined : await takeFromRound(ALL);
    return (
      round ?? { snapshot: { connections: oldestFirst(slugs().flatMap(hub.snapshot)), degraded: false }, answers: [] }
    );
  };

  const takeAll: TakeAll = async () => (await askAll()).snapshot;

  /** The screens that a device shows, on all boxes; a page that would have to prove that it is the device does not count. */
  const shownBy = async (deviceId: string): Promise<string[]> => {
    const { answers } = await askAll();
    const there = answers.flatMap(({ screens, unproven }) => {
      const strangers = new Set(unproven);
      return screens.filter(({ connections }) =>
        connections.some((each) => isOfDevice(each, deviceId) && !strangers.has(each.id)),
      );
    });
    const known = new Set(slugs());
    const here = hub.locationsOf(deviceId).filter(({ slug }) => known.has(slug));
    return [...here, ...there].map(({ slug }) => slug);
  };
  return { takeSnapshot, takeLocally, takeAll, shownBy };
};

/** Returns a function that removes the fields of records that are not part of the variant. */
export const createTrim = (variant: Variant, schema: z.ZodObject): ((record: object) => object) => {
  if (variant === 'extended') return (record) => record;
  const extended = extendedFields(schema);
  return (record) => Object.fromEntries(Object.entries(record).filter(([field]) => !extended.includes(field)));
};

const isSame = (a: Snapshot, b: Snapshot): boolean =>
  a.degraded === b.degraded &&
  (a.connections === b.connections ||
    (a.connections.length === b.connections.length &&
      a.connections.every((each, index) => each === b.connections[index])));

const headers = ['Cache-Control', 'no-store'];

/**
 * Serializes connection snapshots. Each connection and each snapshot is serialized once per change, and all readers share
 * one Buffer until the next change. Changes are detected by identity: connection records are replaced, never mutated.
 */
export const createSnapshotAnswers = (variant: Variant) => {
  const trimConnection = createTrim(variant, connection);
  const trimSnapshot = createTrim(variant, connectionSnapshot);
  const answers = new WeakMap<Screen, { snapshot: Snapshot; answer: PreparedAnswer }>();
  /** Entity tags are counted, which costs less than a hash; after a restart no tag is reused. */
  const instance = randomBytes(6).toString('base64url');
  let count = 0;

  const serialize = perObject((record: Readonly<Connection>): string => JSON.stringify(trimConnection(record)));

  return {
    of(screen: Screen, snapshot: Snapshot): PreparedAnswer {
      const last = answers.get(screen);
      if (last !== undefined && isSame(last.snapshot, snapshot)) return last.answer;
      const { connections, degraded } = snapshot;
      const record = { screen, screenSlug: screen.slug, count: connections.length, connections, degraded };
      const fields = Object.entries(trimSnapshot(record)).map(([name, value]) => {
        const json = value === connections ? `[${connections.map(serialize).join(',')}]` : JSON.stringify(value);
        return `"${name}":${json}`;
      });
      const body = Buffer.from(`{${fields.join(',')}}`);
      // Peers answer each round with new objects.
      const isUnchanged = last?.answer.body.equals(body) === true;
      const answer = isUnchanged ? last.answer : prepareAnswer(`"${instance}-${count++}"`, () => body, headers);
      answers.set(screen, { snapshot, answer });
      return answer;
    },
  };
};
