import { z } from 'zod';
import type { Gather } from '../peers/gather.ts';
import { type Connection, connection } from '../wire/connections.ts';
import type { Hub } from './hub.ts';

/** The connections of a screen on all boxes. */
export interface Snapshot {
  /** Oldest first. */
  connections: Connection[];
  /** Whether a known peer did not answer in time. */
  degraded: boolean;
}

/** @param relayed ask nobody else: another box is gathering */
export type TakeSnapshot = (slug: string, relayed: boolean) => Promise<Snapshot>;

/** A snapshot is as large as the crowd. */
const MOST_BYTES = 16 * 1024 ** 2;

const snapshotAnswer = z.object({ connections: z.array(connection) });

export const createSnapshot =
  (hub: Pick<Hub, 'snapshot'>, gather: Gather): TakeSnapshot =>
  async (slug, relayed) => {
    if (relayed) return { connections: hub.snapshot(slug), degraded: false };
    const path = `/api/screens/${slug}/connections`;
    const { answers, degraded } = await gather({ path, schema: snapshotAnswer, mostBytes: MOST_BYTES });
    const all = [...hub.snapshot(slug), ...answers.flatMap(({ connections }) => connections)];
    return { connections: all.toSorted((a, b) => Date.parse(a.connectedAt) - Date.parse(b.connectedAt)), degraded };
  };
