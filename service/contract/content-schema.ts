/** The JSON Schema of `content.json`, for editors and the console's forms. The build evaluates this file. */
import { z } from 'zod';
import { contentFile } from './content.ts';

export const contentSchema: Readonly<Record<string, unknown>> = z.toJSONSchema(contentFile, { io: 'input' });
