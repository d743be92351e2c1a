/** Messages between a player page and the service over the WebSocket. */
import { z } from 'zod';
import { type Command, command } from './commands.ts';
import { helloFields, stateFields } from './connections.ts';
import { type ackMessage, playsMessage } from './plays.ts';
import { deviceId, extended, reading, reportedText } from './terms.ts';

export const helloMessage = z
  .object({
    type: z.literal('hello'),
    clientId: reportedText().min(1).describe('cut at 500 characters'),
    clientKey: reportedText()
      .nullish()
      .describe(
        'the key from which the page derived its clientId; an id that begins with `key-` is not accepted without it',
      ),
    deviceId: deviceId.nullish(),
    clientName: reportedText(64).trim().min(1).nullish().describe('cut at 64 characters'),
    proof: reportedText(512).nullish().describe('proof that the page is the device, as in `x-signage-device-proof`'),
    ...helloFields,
  })
  .meta({ id: 'Hello', description: 'first message of a page, within 5 s; sent again only to prove the device' });

export const stateMessage = z
  .object({
    type: z.literal('state'),
    ...stateFields,
  })
  .meta({ id: 'State', description: 'what a page shows, sent on change' });

export const faultMessage = z
  .object({
    type: z.literal('fault'),
    slideId: reportedText().nullable().describe('null: no slide, but a redirect, the playlist or the plays'),
    reason: reportedText().describe('cut at 500 characters'),
  })
  .meta({ id: 'Fault', description: 'what the page could not show, and why' });

/**
 * Which clocks of a page are plausible. A time before the build date of the player is wrong.
 * - `ok`: the page uses the service's clock, and its own agrees within a minute.
 * - `page`: only the service's clock; the page's own is wrong or differs.
 * - `service`: only the page's own clock, which the page uses meanwhile.
 * - `unset`: neither; only slides without a schedule play.
 */
export const clockStates = ['ok', 'page', 'service', 'unset'] as const;

export const clockMessage = z
  .object({
    type: z.literal('clock'),
    state: z
      .enum(clockStates)
      .describe('which clocks are plausible: ok (both), page or service (only this one), unset (none)'),
    stepMs: z.number().describe('by how much the clock was just set forward or back, ms; 0: not at all'),
  })
  .meta({ id: 'Clock', description: 'sent after `welcome`, and when the state changes or the clock is set' });

export const swapMessage = z
  .object({
    type: z.literal('swap'),
    slideId: reportedText().nullable().describe('the slide that was shown; null: the idle screen'),
    gapMs: z.number().nonnegative().max(86_400_000).describe('how long neither slide was visible, ms'),
  })
  .meta({ id: 'Swap', description: 'a slide was replaced by another' });

export const timeMessage = z
  .object({ type: z.literal('time'), t0: reading.describe("the page's clock when it sends the request") })
  .meta({ id: 'Time', description: 'time request of a synchronized page' });

/** Maximum number of skews in one report; a page drops the rest. */
const MAX_SKEWS = 100;
const skews = z.array(z.number().min(-86_400_000).max(86_400_000)).max(MAX_SKEWS);

export const skewMessage = z
  .object({
    type: z.literal('skew'),
    swaps: skews.describe('ms by which slides were shown after their scheduled time'),
    videos: skews.describe('ms by which videos were ahead of their scheduled position'),
  })
  .meta({ id: 'Skew', description: 'synchronization errors since the previous report' });
export type Skew = z.infer<typeof skewMessage>;

export const glyphsMessage = z
  .object({
    type: z.literal('glyphs'),
    slideId: reportedText().describe('id of the slide'),
    characters: z
      .string()
      .max(64)
      .regex(/^[\p{L}\p{N}\p{P}\p{S}]*$/u)
      .describe('characters of the slide that no font of the page has; empty: all are available'),
  })
  .meta({ id: 'Glyphs', description: 'a prepared slide needs fonts that are not installed' });

export const identifiedMessage = z
  .object({ type: z.literal('identified') })
  .meta({ id: 'Identified', description: 'the page shows what `identify` asked for' });

/** Frames in one report: more than any display shows in ten seconds. */
const frames = z.int().nonnegative().max(100_000);

export const videoMessage = z
  .object({
    type: z.literal('video'),
    slideId: reportedText().nullable().describe('the slide that shows them; null: none'),
    decoded: frames.describe('frames that were shown since the previous report'),
    dropped: frames.describe('frames that were dropped since the previous report'),
  })
  .meta({ id: 'VideoFramesReport', description: 'frames of the films of a slide, every 10 s while there are some' });
export type VideoReport = z.infer<typeof videoMessage>;

export const pageMessage = z.discriminatedUnion('type', [
  helloMessage,
  stateMessage,
  faultMessage,
  clockMessage,
  swapMessage,
  timeMessage,
  skewMessage,
  glyphsMessage,
  identifiedMessage,
  videoMessage,
  playsMessage,
]);
export type PageMessage = z.infer<typeof pageMessage>;
export type ClockState = z.infer<typeof clockMessage>['state'];
export type Hello = z.infer<typeof helloMessage>;
export type State = z.infer<typeof stateMessage>;

const revision = z.string().describe('revision of the playlist payload that the screen shows');
const plan = extended(
  z
    .string()
    .optional()
    .describe('revision of its `programme`: a page that has it plays on without fetching; absent: it has none'),
);

export const welcomeMessage = z
  .object({
    type: z.literal('welcome'),
    connectionId: z.string().describe('id of this connection, new for each socket'),
    clientName: extended(z.string().nullable().optional().describe('name that the device was given; null: none')),
    revision,
    plan,
    serverTime: z.number().describe("the service's clock, ms since the epoch"),
    nodeId: z.string().describe('id of the box'),
    proven: extended(z.boolean().optional().describe('whether the page has proved that it is the device')),
  })
  .meta({ id: 'Welcome', description: 'answers `hello`' });

/** One object for each command: no message would match an intersection of two closed objects. */
export const commandMessage = z
  .union(
    command.options.map((option: z.ZodObject) =>
      option.extend({ type: z.literal('command') }).meta({ ...option.meta() }),
    ),
  )
  .meta({ id: 'CommandMessage', description: 'a command and its arguments' }) as unknown as z.ZodType<
  { type: 'command' } & Command
>;

export const revisionMessage = z.object({ type: z.literal('revision'), revision, plan }).meta({
  id: 'Revision',
  description:
    'the page fetches the playlist if the revision differs from its own; at a boundary of programmes it is sent within 10 s, to each page at another moment',
});

export const heartbeatMessage = z.object({ type: z.literal('heartbeat'), revision, plan }).meta({
  id: 'Heartbeat',
  description:
    'sent every 15 s beside the WebSocket ping, which a browser does not show to its page: a page that receives nothing for 40 s has a dead socket',
});

export const showMessage = z.object({ type: z.literal('show'), slideId: z.string().describe('id of a slide') }).meta({
  id: 'Show',
  description:
    'the page goes to that slide, as far as it is due and on schedule, and restarts its time; synchronized pages go there together',
});

export const mediaMessage = z.object({ type: z.literal('media') }).meta({
  id: 'MediaArrived',
  description: 'media arrived: the page tries again what failed, and keeps its position, pauses and steps',
});

export const identifyMessage = z
  .object({
    type: z.literal('identify'),
    name: z.string().describe('name of the box'),
    address: z.string().nullable().describe('base URL of the box for other machines; null: they cannot reach it'),
    number: z.int().describe('of this page among those of the box, from 1, the oldest connection first'),
    seconds: z.number().describe('for how long it is shown'),
  })
  .meta({ id: 'Identify', description: 'the page shows which box and which display it is, and answers `identified`' });
export type Identify = z.infer<typeof identifyMessage>;

export const siteTimeMessage = z
  .object({
    type: z.literal('time'),
    t0: reading.describe('as sent by the page'),
    t1: reading.describe('time of the site when the request was received, ms since the epoch'),
    t2: reading.describe('time of the site when the response was sent, ms since the epoch'),
    followed: z
      .boolean()
      .nullable()
      .describe(
        'whether schedules go by it: most boxes agree on it, or the clock of this one tells the same. Null: not known yet, so that a page keeps the time that it has',
      ),
  })
  .meta({ id: 'SiteTime', description: "answers the page's `time`" });

/**
 * Messages from the service to a player page. A page treats a message of an unknown type that has a `revision` as
 * `revision`.
 */
export type ServiceMessage =
  | z.infer<typeof welcomeMessage>
  | z.infer<typeof commandMessage>
  | z.infer<typeof revisionMessage>
  | z.infer<typeof heartbeatMessage>
  | z.infer<typeof showMessage>
  | z.infer<typeof mediaMessage>
  | Identify
  | z.infer<typeof siteTimeMessage>
  | z.infer<typeof ackMessage>;

/** Subprotocol of a page's WebSocket. */
export const socketProtocol = 'signage.v1';

/** Prefix of the second subprotocol, which carries the page token. */
export const tokenProtocol = 'token.';
