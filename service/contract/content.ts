/** The schema of the operator's `content.json`. */
import { jsonpath } from 'json-p3';
import { z } from 'zod';
import { scheduleModes, type slideKinds, template } from './playlist.ts';
import { slug, tag } from './terms.ts';

type SlideKind = (typeof slideKinds)[number];

const id = z.string().min(1).max(128);
const optionalText = z.string().nullish();

const urlMatching = (rule: RegExp, allowed: string) =>
  z
    .string()
    .max(4096)
    .refine((url) => rule.test(url) && URL.canParse(url, 'http://player'), allowed);

/** `/media/NAME`, with one path segment, or an absolute URL. */
const fileUrl = urlMatching(/^(https?:\/\/[^/\s]\S*|\/media\/[^/\s]+)$/i, 'an http(s) URL or /media/NAME');
const pageUrl = urlMatching(/^https?:\/\/[^/\s]\S*$/i, 'an http(s) URL');
const streamUrl = urlMatching(
  /^((rtmps?|rtsps?|srt):\/\/[^/\s]\S*|(https?:\/\/[^/\s]\S*|\/media\/[^/\s]+)\.m3u8(\?\S*)?)$/i,
  'an rtmp, rtmps, rtsp, rtsps or srt URL, or the http(s) URL of an .m3u8',
);

const isDay = (date: string): boolean => {
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
};

/** ISO 8601: a date, with optional time (down to nanoseconds) and optional offset. */
const dateTime = z
  .string()
  .regex(
    /^\d{4}-\d\d-\d\d(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)?)?$/,
    'an ISO 8601 date and time',
  )
  .refine((value) => isDay(value.slice(0, 10)), 'an ISO 8601 date of a day that exists');
const wallTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/, 'HH:MM or HH:MM:SS');

const isDays = (json: string): boolean => {
  try {
    const days: unknown = JSON.parse(json);
    return Array.isArray(days) && days.every((day) => Number.isInteger(day) && day >= 1 && day <= 7);
  } catch {
    return false;
  }
};
const days = z.string().refine(isDays, 'a JSON array of weekdays 1 (Monday) to 7 in a string, such as "[1,2,3,4,5]"');

/** Fields of slides of every kind. */
const anySlide = {
  id: id.optional(),
  title: optionalText,
  body: optionalText,
  duration_seconds: z
    .number()
    .positive()
    .max(31_536_000)
    .nullish()
    .describe('null: the length of the medium, 10 s if it has none'),
  schedule_mode: z.enum(scheduleModes).optional(),
  schedule_start_datetime: dateTime.nullish(),
  schedule_end_datetime: dateTime.nullish(),
  schedule_start_time: wallTime.nullish(),
  schedule_end_time: wallTime.nullish(),
  schedule_days_json: days.nullish(),
  media_url: fileUrl.nullish(),
  media_type: z
    .string()
    .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;.*)?$/, 'a media type such as image/png')
    .nullish(),
  template_id: id.nullish(),
  content: z.looseObject({}).nullish(),
};

const picture = {
  fit: z.enum(['cover', 'contain']).optional(),
  focus: z.tuple([z.number().min(0).max(1), z.number().min(0).max(1)]).optional(),
};
const sound = { muted: z.boolean().optional(), volume: z.number().min(0).max(1).optional() };
const cssColour = z.unknown().optional().describe('a CSS colour');

/** Fields of `content` by kind. Unknown fields and invalid colours are warnings, not errors. */
const contents = {
  text: { background: cssColour, color: cssColour, align: z.unknown().optional().describe('center, or absent') },
  image: { ...picture, background: cssColour },
  pdf: { ...picture, background: cssColour },
  video: { ...picture, ...sound, background: cssColour },
  web: {},
  stream: { ...sound, fallback_media_url: fileUrl.optional() },
  rss: { feed_id: id, items: z.int().positive().optional() },
  timetable: { group_id: id },
} satisfies Partial<Record<SlideKind, z.core.$ZodShape>>;

/** The keys of `content` by kind; null: any. */
export const contentKeys = (kind: SlideKind): string[] | null =>
  kind === 'template' ? null : Object.keys(contents[kind]);

const slide = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.literal('text'), ...anySlide, content: z.looseObject(contents.text).nullish() })
    .refine(({ title, body }) => Boolean(title || body), {
      path: ['title'],
      error: 'a text slide needs a title or a body',
    }),
  z.strictObject({
    kind: z.enum(['image', 'pdf']),
    ...anySlide,
    media_url: fileUrl,
    content: z.looseObject(contents.image).nullish(),
  }),
  z.strictObject({
    kind: z.literal('video'),
    ...anySlide,
    media_url: fileUrl,
    content: z.looseObject(contents.video).nullish(),
  }),
  z.strictObject({ kind: z.literal('web'), ...anySlide, media_url: pageUrl }),
  z.strictObject({
    kind: z.literal('stream'),
    ...anySlide,
    media_url: streamUrl,
    content: z.looseObject(contents.stream).nullish(),
  }),
  z.strictObject({ kind: z.literal('template'), ...anySlide, template_id: id }),
  z.strictObject({ kind: z.literal('rss'), ...anySlide, content: z.looseObject(contents.rss) }),
  z.strictObject({ kind: z.literal('timetable'), ...anySlide, content: z.looseObject(contents.timetable) }),
]);

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

const instant = z.iso.datetime({ offset: true }).optional();

const date = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, 'YYYY-MM-DD')
  .refine(isDay, 'a day that exists');
const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'HH:MM');

/** Opening time of weekdays, or of one date. Entries of a date replace the weekly ones on that day. */
const openingTime = z.union(
  [
    z.strictObject({
      days: z
        .array(z.int().min(1).max(7))
        .min(1)
        .optional()
        .describe('days on which it opens, 1 (Monday) to 7; absent: every day'),
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
        slides: z.array(slide),
      }),
    )
    .default([]),
  templates: z.array(template.extend({ id, name: z.string().optional() })).default([]),
  rssFeeds: z.array(source).default([]),
  apiSources: z.array(apiSource).default([]),
  timetableGroups: z
    .array(z.strictObject({ id, name: z.string().optional(), entries: z.array(timetableEntry) }))
    .default([]),
});
export type ContentFile = z.infer<typeof contentFile>;
export type SlideFile = ContentFile['playlists'][number]['slides'][number];
