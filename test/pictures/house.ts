/** The site that the README's pictures show: a small hotel, whose days are those of the demo content. */
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');
const demoDir = join(root, 'resources', 'demo');

/** Ids of its devices, each on the screen of its first part, by the names that people gave them. */
export const devices: Record<string, string> = {
  'lobby-1': 'Behind the desk',
  'lobby-2': 'By the fireplace',
  'breakfast-1': 'Long window',
  'bar-1': 'Over the counter',
  'lift-1': 'Ground floor',
  'lift-2': 'First floor',
  'seminar-oak-1': 'Door',
  'seminar-linden-1': 'Door',
  'pool-1': 'Towel shelf',
  'staff-1': 'Kitchen corridor',
};

/** Devices that stand upright. */
export const isPortrait = (deviceId: string): boolean => /^(lift|seminar)/.test(deviceId);

/** The device that is switched off. */
export const darkDevice = 'staff-1';

interface Demo {
  playlists: { slides: { id: string; [field: string]: unknown }[] }[];
  templates: object[];
  style: object;
}

const everyDay = [1, 2, 3, 4, 5, 6, 7];

const slidesOf = (demo: Demo) => {
  const all = demo.playlists.flatMap(({ slides }) => slides);
  /** A slide of the demo, somewhat different. */
  return (id: string, changes: object = {}) => ({ ...all.find((slide) => slide.id === id), ...changes });
};

const talks = (rows: [time: string, title: string, detail: string][]) =>
  rows.map(([time, title, detail]) => ({ time, title, detail }));

/** The demo content, its media by names as people give them. */
const demoContent = (): Demo =>
  JSON.parse(readFileSync(join(demoDir, 'content.json'), 'utf8').replaceAll('/media/demo-', '/media/')) as Demo;

/** What a phone can choose from. */
export const hotelScreens = {
  screens: ['Lobby', 'Breakfast room', 'Bar', 'Pool and sauna'].map((name) => ({
    name,
    slug: name.toLowerCase().replaceAll(' ', '-'),
    playlist_id: 'hero',
  })),
};

/** The demo with each slide on a screen of its own, whose slug is the slide's id. */
export const slideContent = (): { slugs: string[]; content: object } => {
  const { playlists, templates, style } = demoContent();
  const slides = playlists.flatMap((playlist) => playlist.slides);
  return {
    slugs: slides.map(({ id }) => id),
    content: {
      screens: slides.map(({ id }) => ({ name: id, slug: id, playlist_id: id })),
      // The look of a slide depends on its id alone.
      playlists: slides.map((slide) => ({ id: slide.id, slides: [slide] })),
      templates,
      style,
    },
  };
};

/** The document of the site. */
export const houseContent = (): object => {
  const demo = demoContent();
  const slide = slidesOf(demo);
  const weekly = (start: string, end: string, days = everyDay) => ({
    schedule_mode: 'weekly',
    schedule_start_time: start,
    schedule_end_time: end,
    schedule_days_json: JSON.stringify(days),
  });
  const screen = (name: string, slug: string, playlist_id: string, ...tags: string[]) => ({
    name,
    slug,
    playlist_id,
    tags,
  });
  return {
    screens: [
      screen('Lobby', 'lobby', 'day', 'guests', 'ground-floor'),
      screen('Breakfast room', 'breakfast', 'breakfast', 'guests', 'ground-floor'),
      {
        ...screen('Bar', 'bar', 'bar', 'guests', 'ground-floor'),
        hours: [{ days: everyDay, open: '17:00', close: '23:30' }],
      },
      screen('Lifts', 'lift', 'ways', 'guests'),
      screen('Seminar room Oak', 'seminar-oak', 'oak', 'seminars'),
      screen('Seminar room Linden', 'seminar-linden', 'linden', 'seminars'),
      screen('Pool and sauna', 'pool', 'pool', 'guests'),
      screen('Staff corridor', 'staff', 'staff', 'staff'),
      screen('Roof terrace', 'terrace', 'bar', 'guests'),
    ],
    // None is due in the morning, which the other pictures show.
    programmes: [
      { id: 'early', targets: ['tag:ground-floor'], playlist_id: 'breakfast', start_time: '05:00', end_time: '08:00' },
      {
        id: 'aperitif',
        targets: ['tag:ground-floor'],
        playlist_id: 'bar',
        days: [1, 2, 3, 4, 5, 6],
        start_time: '17:00',
        end_time: '23:30',
      },
      {
        id: 'sauna',
        targets: ['tag:ground-floor'],
        playlist_id: 'pool',
        days: [5, 6],
        start_time: '20:00',
        end_time: '01:00',
      },
      {
        id: 'ball',
        targets: ['lobby'],
        playlist_id: 'ways',
        days: [6],
        start_time: '18:30',
        end_time: '21:00',
        priority: 2,
      },
    ],
    playlists: [
      {
        id: 'day',
        name: 'A day at the house',
        fade_between_slides: true,
        slides: [
          // Long enough for all pictures to be taken.
          slide('hero', { duration_seconds: 60 }),
          slide('breakfast', weekly('06:30', '11:00')),
          slide('courtyard'),
          slide('today'),
          {
            id: 'soup',
            kind: 'text',
            title: 'Soup and bread',
            body: 'At the bar, as long as there is some.',
            ...weekly('11:30', '14:00', [1, 2, 3, 4, 5]),
          },
          slide('mobile'),
          {
            id: 'piano',
            kind: 'text',
            title: 'Piano by the stairs',
            body: 'Half past nine, softly.',
            ...weekly('12:00', '23:00', [5, 6, 7]),
          },
          slide('ways'),
        ],
      },
      { id: 'breakfast', name: 'Breakfast', fade_between_slides: true, slides: [slide('breakfast', { id: 'menu' })] },
      {
        id: 'bar',
        name: 'Bar',
        slides: [
          slide('breakfast', {
            id: 'drinks',
            title: 'From five',
            content: {
              heading: 'From five',
              note: 'With olives, on the house',
              picture: '/media/breakfast.jpg',
              items: [{ name: 'Orange and bitters', detail: 'Without alcohol', price: 7 }],
            },
          }),
        ],
      },
      { id: 'ways', name: 'Where to', slides: [slide('ways', { id: 'where-to' })] },
      {
        id: 'oak',
        name: 'Seminar room Oak',
        slides: [{ id: 'oak-today', kind: 'timetable', title: 'Oak', content: { group_id: 'oak' } }],
      },
      {
        id: 'linden',
        name: 'Seminar room Linden',
        slides: [{ id: 'linden-today', kind: 'timetable', title: 'Linden', content: { group_id: 'linden' } }],
      },
      { id: 'pool', name: 'Pool and sauna', slides: [slide('courtyard', { id: 'arch' })] },
      {
        id: 'staff',
        name: 'For the staff',
        slides: [{ id: 'linen', kind: 'text', title: 'Linen comes at two', body: 'Back door, ring twice.' }],
      },
    ],
    templates: demo.templates,
    style: demo.style,
    timetableGroups: [
      {
        id: 'oak',
        name: 'Seminar room Oak',
        entries: talks([
          ['09:00', 'Reading balance sheets', 'Ines Okafor'],
          ['11:00', 'Pricing for craftspeople', 'Jonas Lindqvist'],
          ['14:00', 'The first employee', 'Ines Okafor'],
          ['16:30', 'Questions, with cake', 'In the courtyard'],
          ['22:00', 'Night walk', 'Meet at the arch'],
        ]),
      },
      {
        id: 'linden',
        name: 'Seminar room Linden',
        entries: talks([
          ['08:30', 'Choir, upper voices', 'Bring water'],
          ['10:30', 'Choir, lower voices', 'Bring water'],
          ['13:30', 'Choir, all voices', 'In the hall if it rains'],
          ['19:00', 'Open rehearsal', 'Guests are welcome'],
          ['22:30', 'Quiet hour', ''],
        ]),
      },
    ],
  };
};

/** Puts the media of the site where its service finds them. */
export const putMedia = (dataDir: string): void => {
  const uploads = join(dataDir, 'uploads');
  mkdirSync(uploads, { recursive: true });
  for (const name of readdirSync(join(demoDir, 'media'))) {
    cpSync(join(demoDir, 'media', name), join(uploads, name.replace('demo-', '')));
  }
};
