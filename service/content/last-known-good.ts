/** The content that is on the disk: the newest document, and the payloads that it was shown as. */
import { z } from 'zod';
import { type ReplacedVersion, replacedVersion } from '../contract/console/content.ts';
import type { ContentDocument } from '../contract/peers.ts';
import type { Screen } from '../contract/playlist.ts';
import { createEmitter } from '../domain/emitter.ts';
import type { ServiceContext } from '../module.ts';
import { type Durable, openDurable } from '../platform/store/durable.ts';
import type { ScreenDocument } from './model.ts';

/** What screens show; those that show the same share one body. */
interface PackedScreens {
  bodies: Omit<ScreenDocument, 'screen'>[];
  /** The slug, the record, and the index of the body. */
  screens: [string, Screen, number][];
}

/** The last valid content, and how it is shown. */
export interface LastKnownGood {
  /** Null: there never was valid content. */
  screens: PackedScreens | null;
  document: ContentDocument | null;
  /** Versions that were replaced by one that had not seen them, newest first. */
  replaced: ReplacedVersion[];
}

/** Replaced versions that are remembered: as many as versions are kept. */
const MAX_REPLACED = 200;

const by = z.object({ id: z.string().nullable(), name: z.string() }).nullable().optional();

// Looser than the operator's schema: a rule that a later version tightens must not make the stored content unreadable.
// Fields that a newer version added are kept.
const schema = z.object({
  screens: z
    .object({
      bodies: z.array(z.looseObject({})),
      screens: z.array(z.tuple([z.string(), z.looseObject({}), z.number()])),
    })
    .nullable(),
  document: z
    .looseObject({
      counter: z.number(),
      nodeId: z.string(),
      sha256: z.string(),
      changedAt: z.string(),
      ancestors: z.array(z.looseObject({ counter: z.number(), nodeId: z.string(), sha256: z.string().optional() })),
      operator: z.string().nullable(),
      person: by,
      approved_by: by,
      push: z.looseObject({ id: z.string(), at: z.string(), sha256: z.string() }).optional(),
      stamps: z.array(
        z.tuple([z.string(), z.looseObject({ created_at: z.string(), modified_at: z.string(), digest: z.string() })]),
      ),
      text: z.string(),
    })
    .nullable(),
  replaced: z.array(replacedVersion),
}) as unknown as z.ZodType<LastKnownGood>;

/** Screens with the same playlist share one body: the rest of it is the same for all screens. */
const packScreens = (screenDocuments: ReadonlyMap<string, ScreenDocument>): PackedScreens => {
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
export const storedScreens = ({ screens: packed }: LastKnownGood): Map<string, ScreenDocument> | null =>
  packed &&
  new Map(
    packed.screens.flatMap(([slug, screen, index]) => {
      const body = packed.bodies[index];
      return body === undefined ? [] : [[slug, { screen, ...body }] as const];
    }),
  );

/** Opens `content.kept.json`, so that the last valid content survives a restart while content.json has errors. */
export const openLastKnownGood = (context: Pick<ServiceContext, 'dirs' | 'log' | 'now' | 'reserve'>) =>
  openDurable<LastKnownGood>(context, 'content.kept.json', {
    schema,
    initial: { screens: null, document: null, replaced: [] },
    reserve: context.reserve,
  });

export const createKept = (
  { log }: Pick<ServiceContext, 'log'>,
  lastKnownGood: Pick<Durable<LastKnownGood>, 'read' | 'update'>,
) => {
  const changes = createEmitter();
  // Held in memory too, as the disk may be full.
  let { replaced } = lastKnownGood.read();
  /** The SHA-256 of the document of which it was told that it could not be stored; null: none. */
  let told: string | null = null;
  const add = (loser: ReplacedVersion): void => {
    replaced = [loser, ...replaced].slice(0, MAX_REPLACED);
  };
  return {
    /** The newest document that is on the disk; null: there never was one. */
    document: (): ContentDocument | null => lastKnownGood.read().document,
    replaced: (): readonly ReplacedVersion[] => replaced,
    isStored: ({ sha256 }: ContentDocument): boolean => lastKnownGood.read().document?.sha256 === sha256,
    /**
     * Stores a document with its payloads; a failure is logged. Never rejects.
     * @param loser the version that it replaces without having seen it; null: none
     */
    store: async (
      document: ContentDocument,
      screenDocuments: ReadonlyMap<string, ScreenDocument>,
      loser: ReplacedVersion | null = null,
    ): Promise<void> => {
      if (loser !== null) add(loser);
      try {
        const screens = packScreens(screenDocuments);
        await lastKnownGood.update(() => ({ screens, document, replaced }));
      } catch (error) {
        const message = 'the last good content could not be stored; after a restart the box depends on content.json';
        if (told !== document.sha256) log.error({ err: error }, message);
        told = document.sha256;
        return;
      }
      told = null;
      changes.emit();
    },
    /** Stores that a version lost to the document; a failure is logged. Never rejects. */
    addLoss: async (loser: ReplacedVersion): Promise<void> => {
      add(loser);
      await lastKnownGood
        .update((state) => ({ ...state, replaced }))
        .catch((err: unknown) => log.error({ err }, 'which version was replaced could not be stored'));
    },
    /** Calls `listener` when {@link document} changes. */
    onDocument: changes.on,
  };
};
