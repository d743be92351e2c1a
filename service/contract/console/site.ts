/** The site at a glance: its boxes, its screens, their devices and connections, and the takeovers. */
import { z } from 'zod';
import { connection } from '../connections.ts';
import { screen } from '../playlist.ts';
import { deviceId, instant, sha256 } from '../terms.ts';
import { takeover } from './takeovers.ts';

export const siteBox = z
  .object({
    nodeId: z.string().nullable().describe('null: a static peer that never answered'),
    name: z.string().describe('host name of the machine; its address while that is not known'),
    url: z.string().describe('where the box is reached'),
    version: z.string().nullable().describe('of the program; null: not known'),
    status: z.enum(['here', 'alive', 'away']).describe('here: the box that answers'),
    lastSeenAt: instant.nullable().describe('when it last answered; null: never'),
    warnings: z.array(z.string()).describe('sentences: what is wrong with the box; empty where it is away'),
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
    clientName: z.string().nullable().describe('name that the device was given; null: none'),
    nodeId: z.string().nullable().describe('the box that it is connected to, or was last; null: never'),
    lastSeenAt: instant.nullable().describe('null: never'),
    state: z.enum(deviceStates).describe('stuck: connected, but its slides do not change or it reports faults alone'),
  })
  .meta({ id: 'SiteDevice', description: "a device that is expected: bound to the screen, or a kiosk's display" });

export const siteScreen = z
  .object({
    screen,
    tags: z.array(z.string()).describe('tags that the content gives the screen'),
    devices: z.array(siteDevice).describe('the devices that are expected'),
    connections: z.array(connection).describe('the live connections on all boxes, oldest first'),
  })
  .meta({ id: 'SiteScreen' });

export const siteOverview = z
  .object({
    site: z.string().describe('name of the site'),
    nodeId: z.string().describe('id of the box that answers'),
    content: z
      .object({
        sha256: sha256.nullable().describe('of the document that plays, as in GET /console/api/content; null: none'),
        changedAt: instant.nullable().describe('when it was last edited; null: never'),
        status: z
          .enum(['ok', 'invalid'])
          .describe('invalid: the file has errors, and the last good content plays, where there is any'),
      })
      .describe('what plays here'),
    boxes: z.array(siteBox).describe('the box that answers first'),
    screens: z.array(siteScreen).describe('in the order of the content'),
    takeovers: z.array(takeover).describe('those that are on or still to come, the next one first'),
    degraded: z.boolean().describe('true where a known box did not answer within 1 s'),
  })
  .meta({ id: 'SiteOverview' });
export type SiteOverview = z.infer<typeof siteOverview>;
