import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ContentDocument } from '../contract/peers.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable, type Durable } from '../platform/store/durable.ts';
import type { ScreenDocument, Stamp } from './model.ts';

/** The last valid content as it is shown, and the times of its screens; both by slug. */
export interface LastKnownGood {
  /** Null: there never was valid content. */
  programmes: [string, ScreenDocument][] | null;
  /** The document's stamps. A field of its own, because older versions stored stamps without a document. */
  stamps: [string, Stamp][];
  document: Omit<ContentDocument, 'stamps'> | null;
}

// Looser than the operator's schema: a rule that a later version tightens must not make the stored content unreadable.
const schema = z.object({
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
      operator: z.string().nullable().default(null),
      wanted: z.array(z.string()).optional(),
      text: z.string(),
    })
    .nullable()
    .default(null),
}) as unknown as z.ZodType<LastKnownGood>;

/** Opens `content.kept.json`, so that the last valid content survives a restart while content.json has errors. */
export const openLastKnownGood = ({
  dataDir,
  log,
}: {
  dataDir: string;
  log: Logger;
}): Promise<Durable<LastKnownGood>> =>
  createDurable<LastKnownGood>({
    path: join(dataDir, 'content.kept.json'),
    schema,
    initial: { programmes: null, stamps: [], document: null },
    log,
    disk: systemDisk,
    now: Date.now,
  });
