/** Records of peers that are dated implausibly far ahead: they are refused, and logged once. */

import { remember } from '../domain/collections.ts';
import { isPlausibleTime } from '../domain/merge.ts';
import type { SourceLogs } from '../platform/source-log.ts';

/** Pairs of a peer and a kind of record that are remembered. */
const MAX_REMEMBERED = 100;

/** A record: its key and its date (ISO 8601). */
type Dated = readonly [name: string, at: string];

export type Misdated = ReturnType<typeof createMisdated>;

export const createMisdated = (logs: SourceLogs, now: () => number) => {
  const found = new Map<string, { nodeId: string; reason: string }>();

  return {
    /** Notes all records of a kind that a peer offers now. @param kind such as `bindings` */
    note(nodeId: string, kind: string, records: Iterable<Dated>): void {
      const key = `${nodeId} ${kind}`;
      const misdated = [...records].filter(([, at]) => !isPlausibleTime(at, now()));
      const [first] = misdated;
      if (first === undefined) return void found.delete(key);
      const which = `${misdated.length} of the ${kind} are dated years ahead, such as ${first.join(' at ')}`;
      const reason = `${which}, and not taken: set the clock of that box, then make the change again`;
      if (found.get(key)?.reason === reason) return;
      remember(found, key, { nodeId, reason }, MAX_REMEMBERED);
      logs(`peer ${nodeId}`).warn({ nodeId, reason }, 'records that a peer offers were refused');
    },
    /** For `/healthz`. */
    list: (): { nodeId: string; reason: string }[] => [...found.values()],
  };
};
