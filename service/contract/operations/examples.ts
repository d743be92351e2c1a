/** One small site, from which the documents take their examples. */
import type { PlaylistPayload, Screen, Slide } from '../playlist.ts';
import type { PagePlay } from '../plays.ts';

const at = '2026-01-31T08:00:00.000Z';

export const screenExample: Screen = {
  id: 'lobby',
  name: 'Lobby',
  slug: 'lobby',
  playlist_id: 'welcome',
  created_at: '2026-01-30T09:12:44.120Z',
  modified_at: at,
};

const slideExample: Slide = {
  id: 'welcome-1',
  title: 'Good morning',
  body: null,
  duration_seconds: 12,
  schedule_mode: 'weekly',
  schedule_start_datetime: null,
  schedule_end_datetime: null,
  schedule_start_time: '07:00',
  schedule_end_time: '18:30',
  schedule_days_json: '[1,2,3,4,5]',
  media_url: '/media/hall.jpg',
  media_type: 'image/jpeg',
  kind: 'image',
  template_id: null,
  template: null,
  content: { fit: 'cover' },
};

export const playlistExample: PlaylistPayload = {
  screen: screenExample,
  playlist: { id: 'welcome', name: 'Welcome', fade_between_slides: true },
  slides: [slideExample],
  rssFeeds: [
    {
      id: 'news',
      name: 'News',
      url: 'https://news.example.com/feed.xml',
      refresh_seconds: 600,
      status: 'ok',
      fetched_at: at,
      items: [
        {
          id: 'https://news.example.com/1',
          title: 'A headline',
          link: 'https://news.example.com/1',
          summary: 'What happened.',
          image_url: null,
          published_at: '2026-01-31T07:40:00.000Z',
        },
      ],
    },
  ],
  apiSources: [
    {
      id: 'weather',
      name: 'Weather',
      url: 'https://weather.example.com/now.json',
      refresh_seconds: 900,
      status: 'ok',
      fetched_at: at,
      data: { temperature: 3.5 },
    },
  ],
  timetableGroups: [
    {
      id: 'trains',
      name: 'Trains',
      entries: [{ id: 'trains-1', time: '08:15', title: 'Vienna', detail: 'RJ 42', location: '3', days_json: null }],
    },
  ],
  revision: '9f86d081884c7d659a2feaa0c55ad015',
};

export const playExample: PagePlay = {
  play_id: '6c1f0e7a9b2d4c58a1e3f7905b8d2c46',
  screen: screenExample.slug,
  slide_id: slideExample.id,
  slide_title: slideExample.title,
  kind: slideExample.kind,
  media_url: slideExample.media_url,
  revision: playlistExample.revision ?? null,
  started_at: at,
  ended_at: '2026-01-31T08:00:12.000Z',
  duration_ms: 12_000,
  expected_ms: 12_000,
  result: 'played',
  reason: null,
  clock: 'synced',
  playlist_id: 'welcome',
  programme_id: null,
  zone: 'main',
};

export const deviceExample = {
  deviceId: 'H4NP8S2VC6YA5R1T',
  clientName: 'Lobby left',
  screenId: 'lobby',
  screenSlug: 'lobby',
  screenName: 'Lobby',
  playerUrl: 'http://192.168.1.20:8080/screen/lobby',
};

export const digestExample = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
export const nodeExample = '1f0f4a86-9d37-4b1c-8a6f-1c550b9d3c1e';
export const momentExample = at;
