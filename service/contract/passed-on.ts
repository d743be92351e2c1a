/** Schemas of replicated records that preserve what only newer versions know. */
import { z } from 'zod';

/**
 * Keeps unknown fields, up to a limit.
 * @param most characters of their JSON
 */
export const passedOn = <Shape extends z.core.$ZodShape>(
  record: z.ZodObject<Shape>,
  most = 200,
): z.ZodObject<Shape> => {
  const known = Object.keys(record.shape);
  return record.loose().refine((given) => {
    const unknown = Object.entries(given).filter(([name]) => !known.includes(name));
    return unknown.length === 0 || JSON.stringify(unknown).length <= most;
  }, `at most ${most} characters of fields that are not known`);
};

/**
 * A record that this version may be unable to read: it is stored and passed on all the same.
 * @param head what boxes need of it to compare and bound it
 * @param most characters of its JSON
 */
export const orUnread = <Schema extends z.ZodType>(record: Schema, head: z.core.$ZodShape, most: number): Schema =>
  z.union([
    record,
    z
      .looseObject(head)
      .refine((given) => JSON.stringify(given).length <= most, `at most ${most} characters`)
      .describe('of a newer version: kept and passed on, and not used'),
  ]) as unknown as Schema;
