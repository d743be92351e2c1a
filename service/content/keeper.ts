import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { systemDisk } from '../store/disk.ts';
import { createDurable, type Durable } from '../store/durable.ts';
import { contentFile } from './file.ts';
import type { Stamp } from './model.ts';

/** The last good content, and the times of its screens by slug. */
const kept = z.object({
  content: contentFile.nullable(),
  stamps: z.array(
    z.tuple([z.string(), z.object({ created_at: z.string(), modified_at: z.string(), digest: z.string() })]),
  ),
});
export type Kept = { content: z.infer<typeof contentFile> | null; stamps: [string, Stamp][] };

/** Opens what keeps the last good content, so that it outlives a restart beside a file that has gone bad. */
export const openKeeper = ({ dataDir, log }: { dataDir: string; log: Logger }): Promise<Durable<Kept>> =>
  createDurable<Kept>({
    path: join(dataDir, 'content.kept.json'),
    schema: kept,
    initial: { content: null, stamps: [] },
    log,
    disk: systemDisk,
    now: Date.now,
  });
