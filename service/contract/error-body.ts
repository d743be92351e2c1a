/** The body of every error response. */
import { z } from 'zod';
import { contentIssue } from './content-terms.ts';
import { type ErrorCode, errorTable } from './errors.ts';

export const errorBody = z
  .object({
    error: z
      .object({
        code: z.enum(Object.keys(errorTable) as ErrorCode[]).describe('for programs'),
        message: z.string().describe('a sentence for people'),
        field: z.string().optional().describe('only if one field is invalid'),
        errors: z.array(contentIssue).optional().describe('only for invalid_content: up to 20 errors in the content'),
        fields: z.array(z.string()).optional().describe('only for draft_conflict: paths of what two people changed'),
      })
      .describe('what is wrong, and what to do'),
  })
  .meta({ id: 'Error' });
