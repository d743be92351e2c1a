/** Actions on the machine of a box: `POST /console/api/boxes/{nodeId}/actions`. */
import { z } from 'zod';
import { author } from '../terms.ts';
import { boxActions } from './action-names.ts';

const mostVolume = 100;

const fields = {
  action: z
    .enum(boxActions)
    .describe(
      'identify: name, address and number on each display for 15 s; display-on, display-off: until the next change of the opening hours; volume: of the sound output; reset: back to how the package came',
    ),
  display: z
    .union([z.string().min(1).max(200), z.int().min(1)], 'the name, number or device id of a display')
    .nullish()
    .describe('of identify, display-on and display-off: the name, number or device id of one display; absent: all'),
  value: z
    .union([z.string().max(200), z.number()], 'a text or a number')
    .nullish()
    .describe('of volume: 0 to 100; of reset: the name of the box'),
};

const hasVolume = ({ action, value }: { action: string; value?: string | number | null | undefined }): boolean =>
  action !== 'volume' || (typeof value === 'number' && value >= 0 && value <= mostVolume);
const volumeRule = { path: ['value'], error: `a number from 0 to ${mostVolume}` };

/** The body of an order. A volume outside its range is refused before anything else is looked at. */
export const boxOrder = z.object(fields).refine(hasVolume, volumeRule).meta({ id: 'BoxOrder' });
export type BoxOrder = z.infer<typeof boxOrder>;

const operator = z.string().max(64).nullable().describe('who asked for it; null: not known');
const person = author.nullish().describe('who has proven to ask for it; absent or null: nobody has');

/** The same from another box, with who ordered it there. */
export const peerOrder = z
  .object({ ...fields, operator: operator.optional(), person })
  .refine(hasVolume, volumeRule)
  .meta({ id: 'PeerOrder' });
export type PeerOrder = z.infer<typeof peerOrder>;

/** What became of an order, as the hardware answered. */
export const actionAnswer = z
  .object({
    result: z
      .enum(['done', 'unknown', 'not_supported'])
      .describe('unknown: no answer within 5 s, or another one than was asked for; not_supported: nothing was tried'),
    state: z
      .union([z.string(), z.number()])
      .nullable()
      .describe(
        'as it was read back: on, off or standby of displays, the level of the volume, the number of displays that show their name; null: it cannot be read',
      ),
    message: z.string().describe('a sentence for a person'),
  })
  .meta({ id: 'ActionAnswer' });
export type ActionAnswer = z.infer<typeof actionAnswer>;

/** A box tells the others, before it forgets everything, that it is reset. */
export const peerReset = z
  .object({
    name: z.string().max(255).describe('name of the box'),
    operator,
    person,
  })
  .meta({ id: 'PeerReset' });
export type PeerReset = z.infer<typeof peerReset>;
