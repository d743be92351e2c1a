/** Records that all boxes of a site share, in sets such as people and keys. The fields of a record are those of its set. */
import { z } from 'zod';

/** The name of a set. A box that does not know it leaves it out. */
const setName = z.string().regex(/^[a-z]{1,32}$/);

/** A record of any set. Fields that a box does not know are kept and passed on. */
export const sharedRecord = z
  .looseObject({ id: z.string().min(1).max(160).describe('unique in its set') })
  .meta({ id: 'SharedRecord' });
export type SharedRecord = z.infer<typeof sharedRecord>;

/** Records of one message; the next ones are asked for by the place of the last. */
export const mostSharedRecords = 5_000;

/** Digits of the digests of a set: 256 buckets of 8 hex digits. */
export const sharedBuckets = 256;

const records = z
  .array(z.tuple([setName, sharedRecord]))
  .max(mostSharedRecords)
  .describe('each with the name of its set');

export const sharedRecords = z.object({ records }).meta({ id: 'SharedRecords' });

export type NamedRecord = z.infer<typeof records>[number];

export const sharedDigests = z
  .object({
    digests: z
      .record(
        setName,
        z
          .string()
          .length(sharedBuckets * 8)
          .regex(/^[0-9a-f]+$/),
      )
      .describe('digests of the sets of the caller, by name: 256 buckets of 8 hex digits'),
    after: z
      .tuple([setName, z.string().max(160)])
      .optional()
      .describe('set and id of the last record that the caller was given; absent: from the first one'),
  })
  .meta({ id: 'SharedDigests' });
export type SharedDigests = z.infer<typeof sharedDigests>;

export const differingRecords = z
  .object({ records, isCut: z.boolean().describe('whether further ones follow') })
  .meta({ id: 'DifferingRecords' });
