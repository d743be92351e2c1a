/** The house style of a site: what its slides look like where they do not say it themselves. */
import { z } from 'zod';
import { fileUrl } from './content-terms.ts';

const houseColour = z
  .string()
  .regex(/^#[\da-fA-F]{6}$/, 'a colour such as #17343a')
  .describe('a colour: #rrggbb');

const font = z
  .string()
  .max(4096)
  .regex(/^\/media\/[^/\s?#]+\.(?:woff2|WOFF2|ttf|TTF)$/, '/media/NAME of an uploaded woff2 or ttf')
  .describe('/media/NAME of a woff2 or ttf of at most 2 MiB');

/** The same in the operator's file and in the payload. */
export const houseStyle = z
  .strictObject({
    logo_url: fileUrl.optional().describe('picture that stands in a corner of what the player draws'),
    fonts: z
      .strictObject({
        display: font.optional().describe('font of titles and large numbers'),
        text: font.optional().describe('font of everything else'),
      })
      .optional()
      .describe('fonts of slides, and of all else that the player draws'),
    colours: z
      .strictObject({
        background: houseColour.optional(),
        text: houseColour.optional(),
        accent: houseColour.optional(),
      })
      .optional()
      .describe('colours of slides without their own; those that are absent follow from the others'),
    corner: z.number().min(0).max(64).optional().describe('radius of corners, in px'),
  })
  .meta({ id: 'HouseStyle' });
export type HouseStyle = z.infer<typeof houseStyle>;
