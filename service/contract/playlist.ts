/** The playlist payload: screen, playlist, slides, and the data that slides use. */
import { z } from 'zod';
import { extended, instant, slug } from './terms.ts';

export const screen = z
  .object({
    id: z.string().describe('id of the screen'),
    name: z.string().describe('name of the screen, for people'),
    slug,
    playlist_id: z.string().nullable().describe('null: the screen has no playlist'),
    created_at: instant,
    modified_at: instant.describe('when what this screen shows last changed'),
  })
  .meta({ id: 'Screen', description: 'a screen' });
export type Screen = z.infer<typeof screen>;

export const playlist = z
  .object({
    id: z.string().describe('id of the playlist'),
    name: z.string().describe('name of the playlist, for people'),
    fade_between_slides: z.boolean().describe('slides fade into each other'),
  })
  .meta({ id: 'Playlist' });

export const slideKinds = ['text', 'image', 'video', 'web', 'stream', 'pdf', 'template', 'rss', 'timetable'] as const;
export const scheduleModes = ['always', 'between', 'weekly'] as const;

/** A template: HTML with Liquid, rendered in the page. */
export const template = z
  .strictObject({
    id: z.string().min(1).describe('id of the template'),
    name: z.string().describe('name of the template, for people'),
    html: z.string().describe('HTML with Liquid'),
  })
  .meta({ id: 'Template' });

export const slide = z
  .object({
    id: z.string().describe('id of the slide'),
    title: z.string().nullable().describe('title of the slide'),
    body: z.string().nullable().describe('plain text, or HTML that the player sanitises'),
    duration_seconds: z
      .number()
      .positive()
      .nullable()
      .describe('null: the length of the medium, 10 s where it has none'),
    schedule_mode: z
      .enum(scheduleModes)
      .describe('always; between: between the two datetimes; weekly: between the two times on the days'),
    schedule_start_datetime: z.string().nullable().describe('ISO 8601; without an offset, wall-clock time of the site'),
    schedule_end_datetime: z.string().nullable().describe('likewise; exclusive'),
    schedule_start_time: z.string().nullable().describe('HH:MM or HH:MM:SS, wall-clock'),
    schedule_end_time: z.string().nullable().describe('at or before the start: past midnight'),
    schedule_days_json: z.string().nullable().describe('JSON array of ISO weekdays, 1 (Monday) to 7; null: every day'),
    media_url: z.string().nullable().describe('http(s) URL, stream URL or /media/NAME'),
    media_type: z.string().nullable().describe('RFC 6838 media type'),
    kind: z.enum(slideKinds).describe('what is shown, and from which fields'),
    template_id: z.string().nullable().describe('id of the template'),
    template: template.nullable().describe('the template itself'),
    content: z.record(z.string(), z.unknown()).nullable().describe('options of the kind, or values of the template'),
  })
  .meta({ id: 'Slide' });
export type Slide = z.infer<typeof slide>;

export const sourceStatus = z
  .enum(['pending', 'ok', 'stale', 'failed'])
  .describe('stale: the last fetch failed, and the last good data is shown; failed: there is no good data');

/** Common fields of feeds and API sources. */
const followed = {
  id: z.string().describe('id of the source'),
  name: z.string().describe('name of the source, for people'),
  url: z.string().describe('address, without credentials'),
  refresh_seconds: z.number().describe('how often it is fetched'),
  status: sourceStatus,
  fetched_at: instant.nullable().describe('when a fetch last succeeded; null: never'),
};

export const rssFeed = z
  .object({
    ...followed,
    items: z
      .array(
        z.object({
          id: z.string().describe('id of the item, as the feed has it'),
          title: z.string().nullable().describe('title of the item'),
          link: z.string().nullable().describe('address of the item'),
          summary: z.string().nullable().describe('plain text'),
          image_url: z.string().nullable().describe('address of a picture'),
          published_at: instant.nullable().describe('null: the feed does not say'),
        }),
      )
      .describe('in the order of the feed'),
  })
  .meta({ id: 'RssFeed' });
export type RssFeed = z.infer<typeof rssFeed>;

export const apiSource = z
  .object({
    ...followed,
    data: z.unknown().describe('the answer, or the selected part of it; null: none yet'),
  })
  .meta({ id: 'ApiSource' });
export type ApiSource = z.infer<typeof apiSource>;

export const timetableGroup = z
  .object({
    id: z.string().describe('id of the group'),
    name: z.string().describe('name of the group, for people'),
    entries: z
      .array(
        z.object({
          id: z.string().describe('id of the entry'),
          time: z.string().describe('HH:MM, wall-clock'),
          title: z.string().describe('what begins'),
          detail: z.string().nullable().describe('second line'),
          location: z.string().nullable().describe('where'),
          days_json: z.string().nullable().describe('JSON array of ISO weekdays; null: every day'),
        }),
      )
      .describe('in the order of the content'),
  })
  .meta({ id: 'TimetableGroup' });

/** Everything one screen shows. `revision` is a hash of the rest. */
export const playlistPayload = z
  .object({
    screen,
    playlist: playlist.nullable().describe('null: the screen has no playlist'),
    slides: z.array(slide).describe('all slides regardless of their schedule'),
    rssFeeds: extended(z.array(rssFeed).describe('the feeds of the content')),
    apiSources: extended(z.array(apiSource).describe('the API sources of the content')),
    timetableGroups: extended(z.array(timetableGroup).describe('the timetables of the content')),
    revision: extended(z.string().describe('hash of everything else in the payload')),
  })
  .meta({ id: 'PlaylistPayload' });
export type PlaylistPayload = z.infer<typeof playlistPayload>;

/** Header of synchronized playlists; absent otherwise. */
export const syncHeader = 'x-signage-sync';
