import { type Connection, connection, connectionSnapshot } from '../contract/connections.ts';
import type { Screen } from '../contract/playlist.ts';
import type { Variant } from '../contract/terms.ts';
import type { Snapshot } from './snapshot.ts';
import { createTrim } from './variant.ts';

const isSame = (a: Snapshot, b: Snapshot): boolean =>
  a.degraded === b.degraded &&
  a.connections.length === b.connections.length &&
  a.connections.every((each, index) => each === b.connections[index]);

/**
 * Serializes connection snapshots. Each connection and each snapshot is serialized once per change, and all readers share
 * one Buffer. Changes are detected by identity: connection records are replaced, never mutated.
 */
export const createSnapshotBodies = (variant: Variant) => {
  const trimConnection = createTrim(variant, connection);
  const trimSnapshot = createTrim(variant, connectionSnapshot);
  const connectionJson = new WeakMap<object, string>();
  const bodies = new WeakMap<Screen, { snapshot: Snapshot; body: Buffer }>();

  const serialize = (record: Readonly<Connection>): string => {
    const known = connectionJson.get(record);
    if (known !== undefined) return known;
    const json = JSON.stringify(trimConnection(record));
    connectionJson.set(record, json);
    return json;
  };

  return {
    of(screen: Screen, snapshot: Snapshot): Buffer {
      const last = bodies.get(screen);
      if (last !== undefined && isSame(last.snapshot, snapshot)) return last.body;
      const { connections, degraded } = snapshot;
      const record = { screen, screenSlug: screen.slug, count: connections.length, connections, degraded };
      const fields = Object.entries(trimSnapshot(record)).map(([name, value]) => {
        const json = value === connections ? `[${connections.map(serialize).join(',')}]` : JSON.stringify(value);
        return `"${name}":${json}`;
      });
      const body = Buffer.from(`{${fields.join(',')}}`);
      bodies.set(screen, { snapshot, body });
      return body;
    },
  };
};
