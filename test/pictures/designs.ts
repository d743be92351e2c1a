/** What the pictures of the designs show: each with its example, on a screen of its own. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Design } from '../../service/contract/console/designs.ts';
import { designs } from '../../service/contract/designs.ts';

/** Those of the README. */
export const shownDesigns = ['menu', 'weather', 'departures', 'social-wall', 'room', 'people'];

export const nameOf = ({ id }: Pick<Design, 'id'>): string => id.replace('design:', '');

interface Data {
  calendars?: { id: string; events: { title: string; from: string; until: string }[] }[];
  apiSources?: { id: string; data: unknown }[];
  rssFeeds?: {
    id: string;
    name: string;
    items: { id: string; title: string; summary: string; image_url: string | null; published_at: string }[];
  }[];
}

const feedOf = ({ name, items }: NonNullable<Data['rssFeeds']>[number], base: string): object => ({
  version: 'https://jsonfeed.org/version/1.1',
  title: name,
  items: items.map(({ id, title, summary, image_url, published_at }) => ({
    id,
    title,
    content_text: summary,
    ...(image_url === null ? {} : { image: base + image_url }),
    date_published: published_at,
  })),
});

/** Its events on every day, in local time of the site. */
const calendarOf = ({ events }: NonNullable<Data['calendars']>[number]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    ...events.flatMap(({ title, from, until }) => [
      ...['BEGIN:VEVENT', `UID:${title}`, `SUMMARY:${title.replaceAll(',', String.raw`\,`)}`, 'RRULE:FREQ=DAILY'],
      ...[`DTSTART:20260101T${from.replace(':', '')}00`, `DTEND:20260101T${until.replace(':', '')}00`, 'END:VEVENT'],
    ]),
    'END:VCALENDAR',
  ].join('\r\n');

/** Serves the data that the examples name, as feeds and sources do. @param media reads a file of the site */
export const serveExamples = async (media: (name: string) => Buffer) => {
  const answers = new Map<string, object>();
  const texts = new Map<string, string>();
  const server = createServer(({ url = '' }, response) => {
    if (url.startsWith('/media/')) return response.setHeader('Content-Type', 'image/jpeg').end(media(url.slice(7)));
    const text = texts.get(url);
    if (text !== undefined) return response.setHeader('Content-Type', 'text/calendar').end(text);
    return response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answers.get(url)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const all = designs.map(({ data }) => (data ?? {}) as Data);
  const apiSources = all.flatMap(({ apiSources: sources = [] }) => sources);
  const calendars = all.flatMap(({ calendars: each = [] }) => each);
  for (const calendar of calendars) texts.set(`/${calendar.id}.ics`, calendarOf(calendar));
  const rssFeeds = all.flatMap(({ rssFeeds: feeds = [] }) => feeds);
  for (const { id, data } of apiSources) answers.set(`/${id}`, data as object);
  for (const feed of rssFeeds) answers.set(`/${feed.id}`, feedOf(feed, base));
  return {
    content: {
      screens: designs.map((design) => ({ name: design.name, slug: nameOf(design), playlist_id: nameOf(design) })),
      playlists: designs.map(({ id, example }) => ({
        id: nameOf({ id }),
        slides: [{ id, kind: 'template', template_id: id, content: example, duration_seconds: 3600 }],
      })),
      apiSources: apiSources.map(({ id }) => ({ id, url: `${base}/${id}` })),
      calendars: calendars.map(({ id }) => ({ id, url: `${base}/${id}.ics` })),
      rssFeeds: rssFeeds.map(({ id }) => ({ id, url: `${base}/${id}` })),
    },
    close: (): void => void server.close(),
  };
};
