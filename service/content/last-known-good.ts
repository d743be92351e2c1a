import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ContentDocument } from '../contract/peers.ts';
import type { Screen } from '../contract/playlist.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable, type Durable } from '../platform/store/durable.ts';
import type { ScreenDocument, Stamp } from './model.ts';

/** What screens show; those that show the same share one body. */
interface PackedScreens {
  bodies: Omit<ScreenDocument, 'screen'>[];
  /** The slug, the record, and the index of the body. */
  screens: [string, Screen, number][];
}

/** The last valid content as it is shown, and the times of its screens. */
export interface LastKnownGood {
  /** Null: there never was valid content, or an older version has stored it in `programmes`, by slug. */
  screens: PackedScreens | null;
  programmes: [string, ScreenDocument][] | null;
  /** The document's stamps. A field of its own, because older versions stored stamps without a document. */
  stamps: [string, Stamp][];
  document: Omit<ContentDocument, 'stamps'> | null;
}

// Looser than the operator's schema: a rule that a later version tightens must not make the stored content unreadable.
const schema = z.object({
  screens: z
    .object({
      bodies: z.array(z.looseObject({})),
      screens: z.array(z.tuple([z.string(), z.looseObject({}), z.number()])),
    })
    .nullable()
    .default(null),
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
      ancestors: z.array(z.object({ counter: z.number(), nodeId: z.string(), sha256: z.string().optional() })),
      operator: z.string().nullable().default(null),
      wanted: z.array(z.string()).optional(),
      text: z.string(),
    })
    .nullable()
    .default(null),
}) as unknown as z.ZodType<LastKnownGood>;

/** Screens with the same playlist share one body: the rest of it is the same for all screens. */
export const packScreens = (screenDocuments: ReadonlyMap<string, ScreenDocument>): PackedScreens => {
  const bodies: PackedScreens['bodies'] = [];
  /** Indexes of bodies, by their playlist. */
  const known = new Map<unknown, number>();
  const screens = [...screenDocuments].map(([slug, { screen, ...body }]): [string, Screen, number] => {
    const key = body.playlist ?? 'none';
    const index = known.get(key) ?? bodies.push(body) - 1;
    known.set(key, index);
    return [slug, screen, index];
  });
  return { bodies, screens };
};

/** The stored screens, by slug; null: there never was valid content. */
export const storedScreens = ({ screens: packed, programmes }: LastKnownGood): Map<string, ScreenDocument> | null => {
  if (packed === null) return programmes === null ? null : new Map(programmes);
  return new Map(
    packed.screens.flatMap(([slug, screen, index]) => {
      const body = packed.bodies[index];
      return body === undefined ? [] : [[slug, { screen, ...body }] as const];
    }),
  );
};

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
    initial: { screens: null, programmes: null, stamps: [], document: null },
    log,
    disk: systemDisk,
    now: Date.now,
  });
