/** The live players of a screen. */
import { z } from 'zod';
import { screen } from './playlist.ts';
import { viewport } from './socket.ts';
import { extended, instant, slug } from './terms.ts';

export const connection = z
  .object({
    id: z.string().describe('new for each socket'),
    clientId: z.string().describe("the page's own, the same across reconnects"),
    clientName: extended(z.string().nullable()),
    deviceId: extended(z.string().nullable()),
    label: z.string(),
    userAgent: z.string().nullable(),
    viewport: viewport.nullable(),
    page: z.string(),
    currentSlide: z.int().nullable(),
    currentSlideId: extended(z.string().nullable()),
    currentSlideTitle: extended(z.string().nullable()),
    paused: z.boolean(),
    blackout: z.boolean(),
    clientIp: z.string().describe('behind a trusted proxy, the forwarded address'),
    remoteAddress: z.string().describe("the socket's address"),
    connectedAt: instant,
    lastSeenAt: instant,
  })
  .meta({ id: 'Connection' });
export type Connection = z.infer<typeof connection>;

export const connectionSnapshot = z
  .object({
    screen,
    screenSlug: slug,
    count: z.int(),
    connections: z.array(connection),
    degraded: extended(z.boolean().describe('true where a known peer did not answer within 1 s')),
  })
  .meta({ id: 'ConnectionSnapshot' });
export type ConnectionSnapshot = z.infer<typeof connectionSnapshot>;
