import type { z } from 'zod';
import { extendedFields, type Variant } from '../contract/terms.ts';

/** Reduces records of a schema to the fields of a variant: the baseline's lack those that only the extended interface has. */
export const createTrim = (variant: Variant, schema: z.ZodObject): ((record: object) => object) => {
  if (variant === 'extended') return (record) => record;
  const extended = extendedFields(schema);
  return (record) => Object.fromEntries(Object.entries(record).filter(([field]) => !extended.includes(field)));
};
