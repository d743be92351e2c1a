/** The one shape of every error. */
import { z } from 'zod';

export const errorBody = z
  .object({
    error: z.object({
      code: z.string().regex(/^[a-z_]+$/),
      message: z.string().describe('one sentence for a person'),
      field: z.string().optional().describe('only where one field is at fault'),
    }),
  })
  .meta({ id: 'Error' });
