/** Live connections of a screen. */
import { z } from 'zod';
import { screen } from './playlist.ts';
import { viewport } from './socket.ts';
import { extended, instant, slug } from './terms.ts';

export const connection = z
  .object({
    id: z.string().describe('new for each socket'),
    clientId: z.string().describe("the page's own, the same across reconnects"),
    clientName: extended(z.string().nullable().describe('name that the device was given; null: none')),
    deviceId: extended(z.string().nullable().describe('null: the page has not said')),
    label: z.string().describe('clientName, else a short name made from the user agent and the id'),
    userAgent: z.string().nullable().describe('User-Agent of the page'),
    viewport: viewport.nullable().describe('null: the page has not said'),
    page: z.string().describe("the page's path, or the URL that a redirect shows"),
    currentSlide: z.int().nullable().describe('index into slides, from 0; null: none is shown'),
    currentSlideId: extended(z.string().nullable().describe('id of the slide that is shown')),
    currentSlideTitle: extended(z.string().nullable().describe('title of the slide that is shown')),
    paused: z.boolean().describe('playback was paused by a command'),
    blackout: z.boolean().describe('the picture is black, by a command'),
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
    count: z.int().describe('number of connections'),
    connections: z.array(connection).describe('oldest first'),
    degraded: extended(z.boolean().describe('true where a known peer did not answer within 1 s')),
  })
  .meta({ id: 'ConnectionSnapshot' });
export type ConnectionSnapshot = z.infer<typeof connectionSnapshot>;
