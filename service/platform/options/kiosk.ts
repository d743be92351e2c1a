/** The `kiosk` section of `config.json`: settings of boxes with displays. */
import { z } from 'zod';
import { deviceId, slug } from '../../contract/terms.ts';
import { hoursPattern } from './values.ts';

const rotationRule = '0, 90, 180 or 270';
const rotation = z.literal([0, 90, 180, 270], rotationRule);

const display = z.object(
  {
    /** The name that the system reports (`DELL U2720Q`), or the number from 1, left to right and top to bottom. */
    display: z.union([z.string().min(1), z.int().min(1)], "a display's name, or its number from 1"),
    /** The slug of the screen; absent: the screen that its device is bound to. */
    screen: slug.optional(),
    /** The device id; default: derived from the box. Two displays with the same id are one device. */
    deviceId: deviceId.optional(),
    rotation: rotation.optional(),
  },
  'an object with "display"',
);

const updates = z.object(
  {
    /** The URL of a release folder; absent: the one that the build names. */
    feed: z
      .url({ protocol: /^https?$/, error: 'an http or https URL such as http://192.168.1.20/releases/' })
      .optional(),
    /** The release channel. */
    channel: z
      .string()
      .regex(/^[a-z]{1,32}$/, 'latest, or a lowercase name such as beta')
      .default('latest'),
    /** When updates are installed, in the time zone of the site. */
    hours: z.string().regex(hoursPattern, 'HH:MM-HH:MM').default('03:00-05:00'),
  },
  'an object',
);

export const kioskSettings = z.object(
  {
    /** Which displays get a window: all, the primary one, or a list. */
    displays: z
      .union([z.enum(['all', 'primary']), z.array(display).min(1)], 'all, primary, or a list of displays')
      .default('all'),
    /** The rotation of displays without one of their own, in degrees clockwise. */
    rotation: rotation.default(0),
    /** The PIN of the maintenance page; if absent, the page asks for a new one when it is first opened. */
    pin: z
      .string('4 to 12 digits in quotes')
      .regex(/^\d{4,12}$/, '4 to 12 digits in quotes')
      .optional(),
    /** The sources and the hours of updates. */
    updates: updates.prefault({}),
  },
  'an object',
);

export type KioskSettings = z.output<typeof kioskSettings>;
