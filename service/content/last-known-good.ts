import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ContentDocument } from '../contract/peers.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable, type Durable } from '../platform/store/durable.ts';
import type { Programme, Stamp } from './model.ts';

/** The last good content as it is shown, and the times of its screens; both by slug. */
export interface Kept {
  /** Null where there has never been any. */
  programmes: [string, Programme][] | null;
  /** Of the document; kept beside it, because they were there before documents were. */
  stamps: [string, Stamp][];
  document: Omit<ContentDocument, 'stamps'> | null;
}

// Looser than the operator's schema on purpose: a rule that is tightened later must not make what plays unreadable.
const kept = z.object({
  programmes: z.array(z.tuple([z.string(), z.looseObject({})])).nullable(),
  stamps: z.array(
    z.tuple([z.string(), z.object({ created_at: z.string(), modified_at: z.string(), digest: z.string() })]),
  ),
  document: z
    .object({
      counter: z.number(),
      nodeId: z.string(),
      sha256: z.string(),
      changedAt: z.string(),
      ancestors: z.array(z.object({ counter: z.number(), nodeId: z.string() })),
      text: z.string(),
    })
    .nullable()
    .default(null),
}) as unknown as z.ZodType<Kept>;

/** Opens what keeps the last good content, so that it outlives a restart beside a file that has gone bad. */
export const openKeeper = ({ dataDir, log }: { dataDir: string; log: Logger }): Promise<Durable<Kept>> =>
  createDurable<Kept>({
    path: join(dataDir, 'content.kept.json'),
    schema: kept,
    initial: { programmes: null, stamps: [], document: null },
    log,
    disk: systemDisk,
    now: Date.now,
  });
