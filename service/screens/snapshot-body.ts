import { randomBytes } from 'node:crypto';
import { type Connection, connection, connectionSnapshot } from '../contract/connections.ts';
import type { Screen } from '../contract/playlist.ts';
import type { Variant } from '../contract/terms.ts';
import { type PreparedAnswer, prepareAnswer } from '../http/prepared.ts';
import type { Snapshot } from './snapshot.ts';
import { createTrim } from './variant.ts';

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
  const connectionJson = new WeakMap<object, string>();
  const answers = new WeakMap<Screen, { snapshot: Snapshot; answer: PreparedAnswer }>();
  /** Entity tags are counted, which costs less than a hash; after a restart no tag is reused. */
  const instance = randomBytes(6).toString('base64url');
  let count = 0;

  const serialize = (record: Readonly<Connection>): string => {
    const known = connectionJson.get(record);
    if (known !== undefined) return known;
    const json = JSON.stringify(trimConnection(record));
    connectionJson.set(record, json);
    return json;
  };

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
