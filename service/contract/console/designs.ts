/** The designs as the console lists them. */
import { z } from 'zod';
import { fieldSchema } from '../field-schema.ts';

export const design = z
  .strictObject({
    id: z.string().describe('`design:NAME`, for `template_id`'),
    name: z.string().describe('name of the design, for people'),
    schema: fieldSchema.describe('its fields'),
    example: z.record(z.string(), z.unknown()).describe('values of the fields'),
    data: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('live data that the example names, as lists of a payload; absent: none'),
    html: z.string().describe('HTML with Liquid, its style inside'),
  })
  .meta({ id: 'Design', description: 'a template that comes with the player, filled in by a form' });
export type Design = z.infer<typeof design>;

export const designList = z
  .object({ designs: z.array(design).describe('in the order of their ids') })
  .meta({ id: 'DesignList' });
export type DesignList = z.infer<typeof designList>;
