/** The body of every error response. */
import { z } from 'zod';
import { type ErrorCode, errorTable } from './errors.ts';

export const errorBody = z
  .object({
    error: z
      .object({
        code: z.enum(Object.keys(errorTable) as ErrorCode[]).describe('for programs'),
        message: z.string().describe('one sentence for a person'),
        field: z.string().optional().describe('only where one field is at fault'),
      })
      .describe('what is wrong, and what to do'),
  })
  .meta({ id: 'Error' });
