/** The `kiosk` section of `config.json`: what only a box with displays of its own has a use for. */
import { z } from 'zod';
import { deviceId, slug } from '../../contract/terms.ts';

const rotationRule = '0, 90, 180 or 270';
const rotation = z.literal([0, 90, 180, 270], rotationRule);

const display = z.object(
  {
    /** The name that the system has for it (`DELL U2720Q`), or its number from 1, left to right and top to bottom. */
    display: z.union([z.string().min(1), z.int().min(1)], "a display's name, or its number from 1"),
    /** The slug of the screen that it shows; absent: what its device is bound to by onboarding. */
    screen: slug.optional(),
    /** A device id in place of the box's own; the same on two displays makes them one device. */
    deviceId: deviceId.optional(),
    rotation: rotation.optional(),
  },
  'an object with "display"',
);

const quietHours = /^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$/;

const updates = z.object(
  {
    /** A release folder, on the LAN or not; absent: the one that the build names. */
    feed: z
      .url({ protocol: /^https?$/, error: 'an http or https URL such as http://192.168.1.20/releases/' })
      .optional(),
    /** Whose releases are taken. */
    channel: z
      .string()
      .regex(/^[a-z]{1,32}$/, 'latest, or a name in small letters such as beta')
      .default('latest'),
    /** When they are put in, by the clocks of the site. */
    hours: z.string().regex(quietHours, 'HH:MM-HH:MM').default('03:00-05:00'),
  },
  'an object',
);

export const kioskSettings = z.object(
  {
    /** Which displays have a window: all, the system's primary one, or these. */
    displays: z
      .union([z.enum(['all', 'primary']), z.array(display).min(1)], 'all, primary, or a list of displays')
      .default('all'),
    /** How far the picture is turned clockwise, degrees, where a display has no rotation of its own. */
    rotation: rotation.default(0),
    /** Opens the maintenance page; where it is absent, the page asks for a new one when it is first opened. */
    pin: z
      .string('4 to 12 digits in quotes')
      .regex(/^\d{4,12}$/, '4 to 12 digits in quotes')
      .optional(),
    /** Where updates come from, and when they go in. */
    updates: updates.prefault({}),
  },
  'an object',
);

export type KioskSettings = z.output<typeof kioskSettings>;
