/** What a screen shows: the screen, its playlist and slides, and the data that slides draw on. */
import { z } from 'zod';
import { extended, instant, slug } from './terms.ts';

export const screen = z
  .object({
    id: z.string(),
    name: z.string(),
    slug,
    playlist_id: z.string().nullable(),
    created_at: instant,
    modified_at: instant.describe('when what this screen shows last changed'),
  })
  .meta({ id: 'Screen' });
export type Screen = z.infer<typeof screen>;

export const playlist = z
  .object({ id: z.string(), name: z.string(), fade_between_slides: z.boolean() })
  .meta({ id: 'Playlist' });

export const slideKinds = ['text', 'image', 'video', 'web', 'stream', 'pdf', 'template', 'rss', 'timetable'] as const;
export const scheduleModes = ['always', 'between', 'weekly'] as const;

/** A template: HTML with Liquid, rendered in the page. */
export const template = z
  .strictObject({ id: z.string().min(1), name: z.string(), html: z.string() })
  .meta({ id: 'Template' });

export const slide = z
  .object({
    id: z.string(),
    title: z.string().nullable(),
    body: z.string().nullable().describe('plain text, or HTML that the player sanitises'),
    duration_seconds: z
      .number()
      .positive()
      .nullable()
      .describe('null: the length of the medium, 10 s where it has none'),
    schedule_mode: z.enum(scheduleModes),
    schedule_start_datetime: z.string().nullable().describe('ISO 8601; without an offset, wall-clock time of the site'),
    schedule_end_datetime: z.string().nullable().describe('likewise; exclusive'),
    schedule_start_time: z.string().nullable().describe('HH:MM or HH:MM:SS, wall-clock'),
    schedule_end_time: z.string().nullable().describe('at or before the start: past midnight'),
    schedule_days_json: z.string().nullable().describe('JSON array of ISO weekdays, 1 (Monday) to 7; null: every day'),
    media_url: z.string().nullable().describe('http(s) URL, stream URL or /media/NAME'),
    media_type: z.string().nullable().describe('RFC 6838 media type'),
    kind: z.enum(slideKinds),
    template_id: z.string().nullable(),
    template: template.nullable(),
    content: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'Slide' });
export type Slide = z.infer<typeof slide>;

export const sourceStatus = z.enum(['pending', 'ok', 'stale', 'failed']);

/** What feeds and API sources have in common. */
const followed = {
  id: z.string(),
  name: z.string(),
  url: z.string(),
  refresh_seconds: z.number(),
  status: sourceStatus,
  fetched_at: instant.nullable(),
};

export const rssFeed = z
  .object({
    ...followed,
    items: z.array(
      z.object({
        id: z.string(),
        title: z.string().nullable(),
        link: z.string().nullable(),
        summary: z.string().nullable(),
        image_url: z.string().nullable(),
        published_at: instant.nullable(),
      }),
    ),
  })
  .meta({ id: 'RssFeed' });
export type RssFeed = z.infer<typeof rssFeed>;

export const apiSource = z
  .object({
    ...followed,
    data: z.unknown(),
  })
  .meta({ id: 'ApiSource' });
export type ApiSource = z.infer<typeof apiSource>;

export const timetableGroup = z
  .object({
    id: z.string(),
    name: z.string(),
    entries: z.array(
      z.object({
        id: z.string(),
        time: z.string(),
        title: z.string(),
        detail: z.string().nullable(),
        location: z.string().nullable(),
        days_json: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'TimetableGroup' });

/** Everything one screen shows. `revision` is a hash of the rest. */
export const playlistPayload = z
  .object({
    screen,
    playlist: playlist.nullable(),
    slides: z.array(slide),
    rssFeeds: extended(z.array(rssFeed)),
    apiSources: extended(z.array(apiSource)),
    timetableGroups: extended(z.array(timetableGroup)),
    revision: extended(z.string()),
  })
  .meta({ id: 'PlaylistPayload' });
export type PlaylistPayload = z.infer<typeof playlistPayload>;

/** The header of a playlist that is shown at the same time everywhere; absent from all others. */
export const syncHeader = 'x-signage-sync';
