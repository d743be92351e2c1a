/** Programmes, rounds and zones: what the operator writes, and what pages get of it. */
import { z } from 'zod';
import { target } from './console/takeovers.ts';
import { id, wallTime } from './content-terms.ts';
import { isDay } from './day.ts';
import { slide } from './slides.ts';
import { instant } from './terms.ts';

/** A day of the site. */
export const date = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, 'YYYY-MM-DD')
  .refine(isDay, 'a day that exists');

export const weekday = z.int().min(1).max(7);

export const programmeLimits = {
  programmes: 2_000,
  /** A screen's payload, bytes of JSON. */
  payloadBytes: 4 * 1024 ** 2,
  /** Days that a page knows ahead. */
  days: 8,
} as const;

/** A day-part: when a playlist is due on some screens. */
export const programme = z.strictObject({
  id,
  targets: z
    .array(target.describe('all, the slug of a screen, or tag:NAME for the screens with a tag'))
    .min(1, 'at least one target')
    .max(100, 'at most 100 targets'),
  playlist_id: id,
  name: z.string().nullish().describe('default: the id'),
  days: z
    .array(weekday)
    .max(7)
    .nullish()
    .describe('1 (Monday) to 7; absent: every day, or only the dates if there are any'),
  dates: z
    .array(date)
    .max(400, 'at most 400 dates')
    .nullish()
    .describe('dates besides the days, such as bank holidays'),
  start_time: wallTime.nullish().describe('absent: from midnight'),
  end_time: wallTime.nullish().describe('at or before the start: on the next day; absent: until midnight'),
  start_date: date.nullish().describe('first day; absent: no limit'),
  end_date: date.nullish().describe('last day; absent: no limit'),
  priority: z.int().min(-10).max(10).nullish().describe('of several that are due the highest plays (default: 0)'),
});

/** A slide that stands for all slides of another playlist. */
export const nestedPlaylist = z.strictObject({
  kind: z.literal('playlist'),
  playlist_id: id.describe('its slides are played in place of this one'),
  id: id.optional(),
});

const playlistOrders = ['listed', 'shuffled'] as const;

/** Fields of a playlist that determine its round. */
export const roundFields = {
  order: z
    .enum(playlistOrders)
    .nullish()
    .describe('shuffled: a new order each day, the same on all pages and boxes (default: listed)'),
  insert: z
    .strictObject({
      playlist_id: id,
      every: z.int().min(1).max(1_000),
      count: z.int().min(1).max(1_000),
    })
    .nullish()
    .describe('after each `every` slides the next `count` of another playlist'),
};

/** Zones besides the main one, in the order of the payload. */
export const zoneNames = ['ticker', 'sidebar'] as const;
export type ZoneName = (typeof zoneNames)[number];
const layouts = ['full', 'ticker', 'sidebar', 'sidebar-ticker'] as const;

/** Fields of a screen that determine its zones. */
export const zoneFields = {
  layout: z.enum(layouts).nullish().describe('zones besides the main one (default: full, which is none)'),
  zones: z
    .strictObject({ ticker: id.nullish(), sidebar: id.nullish() })
    .nullish()
    .describe('the playlist of each zone; the main zone plays what the screen plays'),
};

const playlist = z.object({
  id: z.string().describe('id of the playlist'),
  name: z.string().describe('name of the playlist, for people'),
  fade_between_slides: z.boolean().describe('slides fade into each other'),
});

/** What a screen plays from the site's last midnight to 8 days after it: all that a page needs to switch by itself. */
export const programmePlan = z
  .object({
    revision: z
      .string()
      .describe('hash of what the payload holds whatever the time: equal on both sides of a boundary'),
    from: instant.describe("the site's last midnight"),
    until: instant.describe('8 days after it'),
    slides: z.record(z.string(), slide).describe('each slide once, by its id'),
    playlists: z.record(z.string(), z.string()).describe('by the id of a slide: the playlist that it stands in'),
    lists: z
      .array(
        z.object({
          playlist: playlist.nullable().describe('null: the screen has no playlist then'),
          sync: z.boolean().describe('all pages show the same slide of it at the same time'),
          slides: z.array(z.string()).describe('ids, in the order of one round'),
        }),
      )
      .describe('rounds'),
    spans: z
      .array(
        z.object({
          from: instant,
          list: z.int().describe('index in `lists`'),
          programme_id: z.string().nullable().describe("null: the screen's own playlist, or one of a trigger"),
        }),
      )
      .describe('what is due, each until the next one begins'),
  })
  .meta({ id: 'ProgrammePlan' });
export type ProgrammePlan = z.infer<typeof programmePlan>;

export const zone = z
  .object({
    zone: z.enum(zoneNames).describe('which zone'),
    playlist: playlist.describe('what plays in it'),
    slides: z.array(slide).describe('one round, as `slides` of the payload'),
    playlists: z
      .array(z.string())
      .optional()
      .describe('of each of the slides the playlist that it stands in; absent: all stand in `playlist`'),
    sync: z.literal(true).optional().describe('all pages show the same slide of it at the same time; absent: not'),
  })
  .meta({ id: 'Zone', description: 'a zone besides the main one' });
export type Zone = z.infer<typeof zone>;

/** `GET /console/api/screens/{slug}/programme`. */
export const dueQuery = z.object({
  at: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('ISO 8601; without an offset, wall-clock time of the site; a date is its midnight; absent: now'),
});

/** Why a programme plays, or none does. */
const dueReasons = ['trigger', 'only', 'priority', 'target', 'order', 'default', 'none'] as const;

export const screenDue = z
  .object({
    at: instant,
    playlist_id: z.string().nullable().describe('null: nothing plays'),
    programme_id: z.string().nullable().describe("null: the screen's own playlist, one of a trigger, or nothing"),
    reason: z
      .enum(dueReasons)
      .describe(
        'trigger: a trigger put it above all programmes; only: no other programme is due; priority, target, order: by what it precedes the others; default: none is due; none: nor has the screen a playlist',
      ),
    slides: z.array(z.string()).describe('ids of one round, regardless of their schedule'),
    next: z
      .object({ at: instant, playlist_id: z.string().nullable().describe('null: nothing plays then') })
      .nullable()
      .describe('when another playlist begins; null: not within 8 days'),
  })
  .meta({ id: 'ScreenDue', description: 'what a screen plays at a moment' });
export type ScreenDue = z.infer<typeof screenDue>;
