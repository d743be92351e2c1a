import type { z } from 'zod';
import { extendedFields, type Variant } from '../contract/terms.ts';

/** Returns a function that removes the fields of records that are not part of the variant. */
export const createTrim = (variant: Variant, schema: z.ZodObject): ((record: object) => object) => {
  if (variant === 'extended') return (record) => record;
  const extended = extendedFields(schema);
  return (record) => Object.fromEntries(Object.entries(record).filter(([field]) => !extended.includes(field)));
};
