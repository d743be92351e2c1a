/** The schema of the operator's `content.json`. */
import { jsonpath } from 'json-p3';
import { z } from 'zod';
import { days, id, optionalText, pageUrl, wallTime } from './content-terms.ts';
import { designPrefix } from './design-prefix.ts';
import { fieldSchema } from './field-schema.ts';
import { mostMessages, savedMessage } from './messages.ts';
import { date, nestedPlaylist, programme, programmeLimits, roundFields, weekday, zoneFields } from './programmes.ts';
import { slideFile, template } from './slides.ts';
import { houseStyle } from './style.ts';
import { slug, tag } from './terms.ts';

const source = z.strictObject({
  id,
  name: z.string().optional().describe('default: the title of the feed, else the id'),
  url: pageUrl,
  refresh_seconds: z.number().positive().max(31_536_000).optional().describe('values below 1 count as 1; default: 900'),
});

const isPath = (path: string): boolean => {
  try {
    jsonpath.compile(path);
    return true;
  } catch {
    return false;
  }
};
const apiSource = source.extend({
  select: z
    .string()
    .max(2048)
    .refine(isPath, 'a JSON path (RFC 9535) such as $.current.temperature')
    .nullish()
    .describe('JSON path (RFC 9535): shows the value of a singular path, else the list of all matches'),
});

const timetableEntry = z.strictObject({
  id: id.optional(),
  time: wallTime,
  title: z.string(),
  detail: optionalText,
  location: optionalText,
  days_json: days.nullish(),
});

const calendarUrl = z
  .string()
  .max(4096)
  .regex(
    /^(?:(?:[Hh][Tt][Tt][Pp][Ss]?|[Ww][Ee][Bb][Cc][Aa][Ll]):\/\/[^/\s]\S*|\/media\/[^/\s]+\.[Ii][Cc][Ss])$/,
    'an http(s) or webcal URL, or /media/NAME.ics',
  );
const calendar = z.strictObject({
  id,
  name: z.string().optional().describe('default: the id'),
  url: calendarUrl,
  refresh_seconds: z.number().positive().max(31_536_000).optional().describe('values below 1 count as 1; default: 900'),
});

const instant = z.iso.datetime({ offset: true }).optional();

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'HH:MM');

/** Opening time of weekdays, or of one date. Entries of a date replace the weekly ones on that day. */
const openingTime = z.union(
  [
    z.strictObject({
      days: z.array(weekday).min(1).optional().describe('days on which it opens, 1 (Monday) to 7; absent: every day'),
      open: clockTime,
      close: clockTime.describe('at or before "open": on the next day'),
    }),
    z.strictObject({ date, open: clockTime, close: clockTime }),
    z.strictObject({ date }).describe('closed on that day'),
  ],
  '{"days": [1, 2, 3, 4, 5], "open": "08:00", "close": "20:00"}, the same with a "date" in place of "days", or {"date": "2026-12-25"} for a day that is closed',
);
export type OpeningTime = z.infer<typeof openingTime>;

/** `content.json` as the operator writes it: all fields with a sensible default are optional. */
export const contentFile = z.strictObject({
  $schema: z.string().optional(),
  screens: z.array(
    z.strictObject({
      id: id.optional(),
      name: z.string().min(1),
      slug,
      playlist_id: id.nullish(),
      hours: z
        .array(openingTime)
        .nullish()
        .describe('when its display is on, in local time of the site; absent: always. Not sent to pages'),
      tags: z
        .array(tag)
        .max(32)
        .nullish()
        .describe('groups of screens that commands and takeovers can target as "tag:NAME"; not sent to pages'),
      ...zoneFields,
      created_at: instant,
      modified_at: instant,
    }),
  ),
  playlists: z
    .array(
      z.strictObject({
        id,
        name: z.string().optional(),
        fade_between_slides: z.boolean().optional().describe('default: true'),
        sync: z
          .boolean()
          .optional()
          .describe('true: every screen of the site shows the same slide of it at the same time (default: false)'),
        ...roundFields,
        slides: z.array(z.discriminatedUnion('kind', [...slideFile.options, nestedPlaylist])),
      }),
    )
    .default([]),
  programmes: z
    .array(programme)
    .max(programmeLimits.programmes, `at most ${programmeLimits.programmes} programmes`)
    .default([])
    .describe('when which playlist is due on which screens; at other times a screen plays its own playlist'),
  templates: z
    .array(
      template.extend({
        id: id.refine(
          (value) => !value.startsWith(designPrefix),
          'an id that begins with "design:" is that of a design',
        ),
        name: z.string().optional(),
        schema: fieldSchema.optional().describe('its form: a subset of JSON Schema'),
      }),
    )
    .default([]),
  rssFeeds: z.array(source).default([]),
  apiSources: z.array(apiSource).default([]),
  timetableGroups: z
    .array(
      z
        .strictObject({
          id,
          name: z.string().optional(),
          entries: z.array(timetableEntry).optional(),
          calendar_id: id.optional().describe('the calendar whose events are the entries, in place of entries'),
        })
        .refine(
          ({ entries, calendar_id }) => (entries === undefined) !== (calendar_id === undefined),
          'a timetable has either entries or a calendar_id',
        ),
    )
    .default([]),
  calendars: z.array(calendar).max(50, 'at most 50 calendars').default([]),
  messages: z
    .array(savedMessage)
    .max(mostMessages, `at most ${mostMessages} messages`)
    .default([])
    .describe('saved messages, which are started as takeovers'),
  style: houseStyle.optional().describe('logo, fonts and colours of everything that the player draws'),
});
export type ContentFile = z.infer<typeof contentFile>;
