/** What a player page and the service say to each other over their socket. */
import { z } from 'zod';
import type { Command } from './commands.ts';
import { clientName, deviceId, reading } from './terms.ts';

export const viewport = z.object({
  width: z.number().nonnegative(),
  height: z.number().nonnegative(),
  devicePixelRatio: z.number().positive(),
});

/** What a page says of itself whenever it changes. */
const pageState = {
  page: z
    .string()
    .max(2048)
    .optional()
    .describe("the page's path, or the URL that a redirect shows; absent: as before"),
  viewport: viewport.extend({ devicePixelRatio: viewport.shape.devicePixelRatio.default(1) }).nullish(),
};

export const helloMessage = z
  .object({
    type: z.literal('hello'),
    clientId: z.string().min(1).max(128),
    deviceId: deviceId.nullish(),
    clientName: clientName.nullish(),
    ...pageState,
  })
  .meta({ id: 'Hello', description: 'first message of a page, within 5 s' });

export const stateMessage = z
  .object({
    type: z.literal('state'),
    ...pageState,
    currentSlide: z.int().nonnegative().nullish().describe('index into slides, from 0'),
    currentSlideId: z.string().max(256).nullish(),
    currentSlideTitle: z.string().nullish(),
    paused: z.boolean().optional().describe('absent: as before'),
    blackout: z.boolean().optional().describe('absent: as before'),
  })
  .meta({ id: 'State', description: 'what a page shows, sent on change' });

export const faultMessage = z
  .object({
    type: z.literal('fault'),
    slideId: z.string().max(256).nullable().describe('null: no slide, but a redirect or the playlist'),
    reason: z.string().max(1024),
  })
  .meta({ id: 'Fault', description: 'what the page could not show, and why' });

/**
 * Which clocks of a page can be right. One that tells a time before the player was built is wrong.
 * - `ok`: the service's, which the page goes by, and the page's own agrees within a minute.
 * - `page`: only the service's; the page's own is wrong or apart from it.
 * - `service`: only the page's own, which it goes by meanwhile.
 * - `unset`: none, so that only slides play that are always on.
 */
export const clockStates = ['ok', 'page', 'service', 'unset'] as const;

export const clockMessage = z
  .object({
    type: z.literal('clock'),
    state: z.enum(clockStates).describe('whose clock can be right: ok (both), page or service (the other), unset'),
    stepMs: z.number().describe('how far the time was set on or back just now; 0: it was not'),
  })
  .meta({ id: 'Clock', description: 'sent after the welcome and whenever the state changes or the time was set' });

export const swapMessage = z
  .object({
    type: z.literal('swap'),
    slideId: z.string().max(256).nullable().describe('what came on; null: the idle screen'),
    gapMs: z.number().nonnegative().max(86_400_000).describe('how long neither slide was on the screen'),
  })
  .meta({ id: 'Swap', description: 'one slide has taken the place of another' });

export const timeMessage = z
  .object({ type: z.literal('time'), t0: reading.describe("the page's clock as it asks") })
  .meta({ id: 'Time', description: 'a page in step asks for the time of the site' });

/** A page reports the skews since it did so last, and leaves out what is more than this. */
const MOST_SKEWS = 100;
const skews = z.array(z.number().min(-86_400_000).max(86_400_000)).max(MOST_SKEWS);

export const skewMessage = z
  .object({
    type: z.literal('skew'),
    swaps: skews.describe('ms by which slides came on after their moment'),
    videos: skews.describe('ms by which videos were ahead of where they should be'),
  })
  .meta({ id: 'Skew', description: 'how well a page has kept in step since it last said so' });
export type Skew = z.infer<typeof skewMessage>;

export const pageMessage = z.discriminatedUnion('type', [
  helloMessage,
  stateMessage,
  faultMessage,
  clockMessage,
  swapMessage,
  timeMessage,
  skewMessage,
]);
export type PageMessage = z.infer<typeof pageMessage>;
export type ClockState = z.infer<typeof clockMessage>['state'];
export type Hello = z.infer<typeof helloMessage>;
export type State = z.infer<typeof stateMessage>;

/** What the service says to a page over its socket. */
export type ServiceMessage =
  | { type: 'welcome'; connectionId: string; clientName: string | null; revision: string; serverTime: number }
  | ({ type: 'command' } & Command)
  | { type: 'revision'; revision: string }
  /**
   * Sent every 15 s beside the WebSocket ping, which a browser does not show to its page: a page that receives nothing
   * for 40 s has a dead socket. `revision` is as in `revision`, so that a page which does not know the type treats it
   * as that message.
   */
  | { type: 'heartbeat'; revision: string }
  /** `t1` and `t2`: the time of the site as the question came and as the answer went, in ms since the epoch. */
  | { type: 'time'; t0: number; t1: number; t2: number };

/** The subprotocol that a page's socket asks for. */
export const socketProtocol = 'signage.v1';

/** What goes before the token where a socket sends it, as a second subprotocol. */
export const tokenProtocol = 'token.';
