/** The playlist payload: screen, playlist, slides, and the data that slides use. */
import { z } from 'zod';
import { calendarEvent } from './calendars.ts';
import { programmePlan, zone } from './programmes.ts';
import { slide } from './slides.ts';
import { houseStyle } from './style.ts';
import { extended, instant, slug } from './terms.ts';

export type { Slide } from './slides.ts';

export const screen = z
  .object({
    id: z.string().describe('id of the screen'),
    name: z.string().describe('name of the screen, for people'),
    slug,
    playlist_id: z.string().nullable().describe('null: the screen has no playlist'),
    created_at: instant,
    modified_at: instant.describe('when the content of this screen last changed'),
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
          title: z.string().describe('title of the event'),
          detail: z.string().nullable().describe('second line'),
          location: z.string().nullable().describe('where'),
          days_json: z.string().nullable().describe('JSON array of ISO weekdays; null: every day'),
        }),
      )
      .describe('in the order of the content'),
    fetched_at: instant
      .nullable()
      .optional()
      .describe('when the calendar that it reads was last fetched; null: never; absent: it reads none'),
  })
  .meta({ id: 'TimetableGroup' });

export const calendar = z
  .object({
    id: z.string().describe('id of the calendar'),
    name: z.string().describe('name of the calendar, for people'),
    status: sourceStatus,
    fetched_at: instant.nullable().describe('when a fetch last succeeded; null: never'),
    events: z.array(calendarEvent).describe('from the last midnight of the site to 8 days after it, by their starts'),
  })
  .meta({ id: 'Calendar' });
export type Calendar = z.infer<typeof calendar>;

/** Everything one screen shows. `revision` is a hash of the rest, and of whether it is synchronized. */
export const playlistPayload = z
  .object({
    screen,
    playlist: playlist.nullable().describe('null: the screen has no playlist'),
    slides: z
      .array(slide)
      .describe(
        'one round of the playlist that is due now, all slides regardless of their schedule; one can stand twice',
      ),
    rssFeeds: extended(z.array(rssFeed).describe('the feeds of the content')),
    apiSources: extended(z.array(apiSource).describe('the API sources of the content')),
    timetableGroups: extended(z.array(timetableGroup).describe('the timetables of the content')),
    programme: extended(
      programmePlan.optional().describe('what is due when; absent: one playlist plays as it is listed'),
    ),
    zones: extended(
      z.array(zone).optional().describe('zones besides the main one: ticker, then sidebar; absent: none'),
    ),
    calendars: extended(z.array(calendar).optional().describe('the calendars that slides show; absent: none')),
    style: extended(houseStyle.optional().describe('the house style; absent: none')),
    revision: extended(z.string().describe('hash of everything else in the answer')),
  })
  .meta({ id: 'PlaylistPayload' });
export type PlaylistPayload = z.infer<typeof playlistPayload>;

/** Header of synchronized playlists; absent otherwise. */
export const syncHeader = 'x-signage-sync';

/** Header of a playlist in the extended variant: the version of the service. */
export const versionHeader = 'x-signage-version';

/** Header with an IANA time zone: of the service, in playlists of the extended variant; of a phone, where it binds a device. */
export const zoneHeader = 'x-signage-time-zone';
