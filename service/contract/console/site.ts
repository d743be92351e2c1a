/** The site at a glance: its boxes, its screens, their devices and connections, and the takeovers. */
import { z } from 'zod';
import { connection } from '../connections.ts';
import { screen } from '../playlist.ts';
import { deviceId, instant, sha256 } from '../terms.ts';
import { takeover } from './takeovers.ts';

export const siteBox = z
  .object({
    nodeId: z.string().nullable().describe('null: a static peer that has never responded'),
    name: z.string().describe('host name of the machine, or its address while that is unknown'),
    url: z.string().describe('base URL of the box'),
    version: z.string().nullable().describe('of the program; null: unknown'),
    status: z.enum(['here', 'alive', 'away']).describe('here: the responding box'),
    lastSeenAt: instant.nullable().describe('when it last responded; null: never'),
    warnings: z.array(z.string()).describe('problems of the box, as sentences; empty if it is away'),
  })
  .meta({ id: 'SiteBox' });

/**
 * - `playing`: connected.
 * - `closed`: outside the opening hours of its screen.
 * - `stuck`: connected, and its slide has not changed for three of its lengths, or it reports faults alone.
 * - `away`: not connected.
 * - `never`: bound, and never seen.
 */
export const deviceStates = ['playing', 'closed', 'stuck', 'away', 'never'] as const;
export type DeviceState = (typeof deviceStates)[number];

export const siteDevice = z
  .object({
    deviceId,
    clientName: z.string().nullable().describe('name of the device; null: none'),
    nodeId: z.string().nullable().describe('the box to which it is or was last connected; null: never'),
    lastSeenAt: instant.nullable().describe('null: never'),
    state: z.enum(deviceStates).describe('stuck: connected, but its slides do not change or it reports only errors'),
  })
  .meta({ id: 'SiteDevice', description: "a device that is expected: bound to the screen, or a kiosk's display" });

export const siteScreen = z
  .object({
    screen,
    tags: z.array(z.string()).describe('tags of the screen in the content'),
    devices: z.array(siteDevice).describe('expected devices'),
    connections: z.array(connection).describe('the live connections on all boxes, oldest first'),
  })
  .meta({ id: 'SiteScreen' });

export const siteOverview = z
  .object({
    site: z.string().describe('name of the site'),
    nodeId: z.string().describe('id of the responding box'),
    content: z
      .object({
        sha256: sha256.nullable().describe('of the document that plays, as in GET /console/api/content; null: none'),
        changedAt: instant.nullable().describe('when it was last edited; null: never'),
        status: z
          .enum(['ok', 'invalid'])
          .describe('invalid: the file has errors, and the last valid content plays, if there is any'),
      })
      .describe('the content of the responding box'),
    boxes: z.array(siteBox).describe('the responding box first'),
    screens: z.array(siteScreen).describe('in the order of the content'),
    takeovers: z.array(takeover).describe('active and upcoming takeovers, the earliest first'),
    degraded: z.boolean().describe('true if a known box did not respond within 1 s'),
  })
  .meta({ id: 'SiteOverview' });
export type SiteOverview = z.infer<typeof siteOverview>;
