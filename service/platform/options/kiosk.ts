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
    channel: z
      .string()
      .regex(/^[a-z]{1,32}$/, 'latest, or a lowercase name such as beta')
      .default('latest'),
    /** When updates are installed, in the time zone of the site. */
    hours: z.string().regex(hoursPattern, 'HH:MM-HH:MM').default('03:00-05:00'),
  },
  'an object',
);

const address = z.union([z.ipv4(), z.ipv6()], 'an address such as 192.168.1.1');
const hostName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** Root checks all of it once more (resources/image/root/usr/lib/signage/network). */
const network = z.object(
  {
    /** The Wi-Fi to join; absent: the box has a cable. */
    wifi: z
      .object(
        {
          ssid: z
            .string()
            .refine(
              (name) => /^\P{Cc}+$/u.test(name) && Buffer.byteLength(name) <= 32,
              '1 to 32 bytes without control characters',
            ),
          /** Absent: the Wi-Fi is open. */
          password: z
            .string()
            .regex(/^([\x20-\x7e]{8,63}|[0-9a-fA-F]{64})$/, '8 to 63 characters, or a key of 64 hexadecimal digits')
            .optional(),
          /** ISO 3166-1; absent: the channels that are allowed everywhere. */
          country: z
            .string()
            .regex(/^[A-Z]{2}$/, 'two capital letters such as DE')
            .optional(),
        },
        'an object with "ssid"',
      )
      .optional(),
    /** With its prefix; absent: from the network (DHCP). */
    address: z.union([z.cidrv4(), z.cidrv6()], 'an address with its prefix, such as 192.168.1.20/24').optional(),
    gateway: address.optional(),
    dns: z.array(address).min(1).max(3).optional(),
    ntp: z.string().regex(hostName, 'a host name or an address').or(address).optional(),
    /** Absent: `signage-` and 6 characters of the id of the box. */
    hostname: z
      .string()
      .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'up to 63 of a-z, 0-9 and -')
      .optional(),
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
    /** How a box from an image reaches the network; absent: by a cable, as the network says. */
    network: network.optional(),
  },
  'an object',
);

export type KioskSettings = z.output<typeof kioskSettings>;
