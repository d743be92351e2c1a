/** Content as an operator writes it. */

/** One screen, `lobby`, that shows the given slides. */
export const lobbyWith = (slides: readonly unknown[], more: object = {}) => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'welcome' }],
  playlists: [{ id: 'welcome', slides }],
  ...more,
});

export const hello = { kind: 'text', title: 'Hello' };

/** The least that can be said. */
export const lobby = lobbyWith([hello]);

/** One slide of each kind, with what it needs and nothing else. */
export const slideOfEachKind = {
  text: { kind: 'text', body: 'Good morning' },
  image: { kind: 'image', media_url: '/media/hall.jpg' },
  video: { kind: 'video', media_url: 'https://cdn.example.com/film.mp4' },
  web: { kind: 'web', media_url: 'https://example.com/board' },
  stream: { kind: 'stream', media_url: 'rtmp://camera.example.com/live/door' },
  pdf: { kind: 'pdf', media_url: '/media/menu.pdf' },
  template: { kind: 'template', template_id: 'board' },
  rss: { kind: 'rss', content: { feed_id: 'news' } },
  timetable: { kind: 'timetable', content: { group_id: 'trains' } },
} as const;

/** What the slides of {@link slideOfEachKind} refer to. */
export const references = {
  templates: [{ id: 'board', html: '<h1>{{ content.title }}</h1>' }],
  rssFeeds: [{ id: 'news', url: 'http://127.0.0.1:9/feed.xml' }],
  apiSources: [{ id: 'weather', url: 'http://127.0.0.1:9/weather.json' }],
  timetableGroups: [{ id: 'trains', entries: [{ time: '08:15', title: 'Vienna' }] }],
};

export const everyKind = lobbyWith(Object.values(slideOfEachKind), references);

/** The fields of the specification, in its order. */
export const fields = {
  screen: ['id', 'name', 'slug', 'playlist_id', 'created_at', 'modified_at'],
  playlist: ['id', 'name', 'fade_between_slides'],
  slide: [
    ...['id', 'title', 'body', 'duration_seconds', 'schedule_mode', 'schedule_start_datetime', 'schedule_end_datetime'],
    ...['schedule_start_time', 'schedule_end_time', 'schedule_days_json', 'media_url', 'media_type', 'kind'],
    ...['template_id', 'template', 'content'],
  ],
  payload: {
    baseline: ['screen', 'playlist', 'slides'],
    extended: ['screen', 'playlist', 'slides', 'rssFeeds', 'apiSources', 'timetableGroups', 'revision'],
  },
};

export const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
