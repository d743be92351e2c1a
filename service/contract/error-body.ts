/** The body of every error response. */
import { z } from 'zod';
import { contentIssue } from './content-issue.ts';
import { type ErrorCode, errorTable } from './errors.ts';

export const errorBody = z
  .object({
    error: z
      .object({
        code: z.enum(Object.keys(errorTable) as ErrorCode[]).describe('for programs'),
        message: z.string().describe('one sentence for a person'),
        field: z.string().optional().describe('only where one field is at fault'),
        errors: z
          .array(contentIssue)
          .optional()
          .describe('only of invalid_content: everything that is wrong, up to 20'),
      })
      .describe('what is wrong, and what to do'),
  })
  .meta({ id: 'Error' });
