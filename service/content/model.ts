/** Builds each screen's document from the operator's file: fills in all defaults, deterministically. */
import { createHash } from 'node:crypto';
import type { ContentFile } from '../contract/content.ts';
import { designs } from '../contract/designs.ts';
import type { PlaylistPayload, Screen, Slide } from '../contract/playlist.ts';
import { calendarIdsOf } from '../domain/calendar-view.ts';
import { perObject } from '../domain/collections.ts';
import { programmesOf } from '../domain/programmes.ts';
import { reachableFrom } from '../domain/rounds.ts';
import { fillSlide, fillTimetable, type NamedTemplate, shownName } from '../domain/slides.ts';
import { reachedBy } from '../domain/template.ts';
import type { FilledCalendar, FilledTimetable, SourceSettings } from '../feeds/index.ts';
import { isPlain, roundListsOf, zonesOf } from './round-lists.ts';

export const DEFAULT_REFRESH_SECONDS = 900;

/** When a screen was created and last modified, and the digest that detects a change. */
export interface Stamp {
  created_at: string;
  modified_at: string;
  digest: string;
}

/** By slug. */
export type Stamps = ReadonlyMap<string, Stamp>;

/** One screen's payload without its revision. */
export type ScreenDocument = Omit<PlaylistPayload, 'revision' | 'timetableGroups' | 'calendars'> & {
  timetableGroups: FilledTimetable[];
  /** Absent: no slide shows one. */
  calendars?: FilledCalendar[];
  /** All pages of the site show the same slide at the same time. Sent as a header, not in the payload. */
  sync?: true;
};

/** SHA-256 of a text, base64url, cut to 132 bits: short enough for a header, and free of collisions in practice. */
const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

interface Part {
  text: string;
  digest: string;
}

/** Parts that records share, as screens share their slides, are serialized and hashed once. They are never mutated. */
const parts = new WeakMap<object, Part>();

const partOf = (value: unknown): Part => {
  if (typeof value !== 'object' || value === null)
    return { text: JSON.stringify(value), digest: JSON.stringify(value) };
  const known = parts.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  const part = { text, digest: digestOf(text) };
  parts.set(value, part);
  return part;
};

const fieldsOf = (record: object): [name: string, part: Part][] =>
  Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, partOf(value)]);

/** The text of `JSON.stringify(record)`. What its fields hold must never be mutated. */
export const textOf = (record: object): string =>
  `{${fieldsOf(record)
    .map(([name, { text }]) => `${JSON.stringify(name)}:${text}`)
    .join(',')}}`;

/** A digest of the record by those of its parts: equal records have equal ones. */
export const revisionOf = (record: object): string =>
  digestOf(JSON.stringify(fieldsOf(record).map(([name, { digest }]) => [name, digest])));

export interface Model {
  /** By slug; feeds and sources are without data. */
  screenDocuments: ReadonlyMap<string, ScreenDocument>;
  stamps: Stamps;
}

/** Payloads are public: keys and passwords in the address of a source are only for the fetch. */
const publicAddress = (address: string): string => {
  const url = new URL(address);
  for (const part of ['username', 'password', 'search', 'hash'] as const) url[part] = '';
  return url.href === new URL(address).href ? address : url.href;
};

/** The settings for fetching the feeds and API sources, credentials included. */
export const sourcesOf = ({ rssFeeds, apiSources, calendars }: ContentFile): SourceSettings[] => {
  const common = ({ id, url, refresh_seconds }: ContentFile['rssFeeds'][number]) => ({
    id,
    url,
    refreshSeconds: refresh_seconds ?? DEFAULT_REFRESH_SECONDS,
  });
  return [
    ...rssFeeds.map((feed) => ({ kind: 'rss' as const, ...common(feed), select: null })),
    ...calendars.map((calendar) => ({
      kind: 'ics' as const,
      ...common({ ...calendar, url: calendar.url.replace(/^webcal:/i, 'https:') }),
      select: null,
    })),
    ...apiSources.map((source) => ({ kind: 'api' as const, ...common(source), select: source.select ?? null })),
  ];
};

/** Seconds that the data of slides may be old where one allows least; infinity: none says it. */
export const shortestAgeOf = ({ playlists }: ContentFile): number =>
  Math.min(
    ...playlists.flatMap(({ slides }) =>
      slides.flatMap((slide) => {
        const most: unknown = 'content' in slide ? slide.content?.['max_age_seconds'] : undefined;
        return typeof most === 'number' ? [most] : [];
      }),
    ),
  );

/** All records of the file that slides may name. */
const fillShared = (content: ContentFile): Data => {
  const fillSource = ({ id, name, url, refresh_seconds }: ContentFile['rssFeeds'][number]) => ({
    id,
    name: shownName(name ?? id),
    url: publicAddress(url),
    refresh_seconds: refresh_seconds ?? DEFAULT_REFRESH_SECONDS,
    status: 'pending' as const,
    fetched_at: null,
  });
  return {
    rssFeeds: content.rssFeeds.map((feed) => ({ ...fillSource(feed), items: [] })),
    apiSources: content.apiSources.map((source) => ({ ...fillSource(source), data: null })),
    timetableGroups: content.timetableGroups.map((group) =>
      group.calendar_id === undefined
        ? fillTimetable(group)
        : { ...fillTimetable(group), calendarId: group.calendar_id },
    ),
    calendars: content.calendars.map(({ id, name }) => ({
      id,
      name: shownName(name ?? id),
      status: 'pending',
      fetched_at: null,
      events: [],
      showsPrivate: false,
    })),
  };
};

type Data = Pick<ScreenDocument, 'rssFeeds' | 'apiSources'> & {
  timetableGroups: FilledTimetable[];
  calendars?: FilledCalendar[];
};

/** Its entries are the events of a calendar. */
const isOfCalendar = ({ calendarId }: FilledTimetable): boolean => calendarId !== undefined;

/** The feeds, sources and groups that the slides name. */
const usedBy = (slides: readonly Slide[], { rssFeeds, apiSources, timetableGroups, calendars = [] }: Data): Data => {
  const used = { rssFeeds: new Set<unknown>(), apiSources: new Set<unknown>(), timetableGroups: new Set<unknown>() };
  /** Whether the titles of private events are shown, by the id of the calendar. */
  const shown = new Map<string, boolean>();
  const show = (id: unknown, content: Slide['content']): void => {
    if (typeof id === 'string') shown.set(id, shown.get(id) === true || content?.['show_private'] === true);
  };
  for (const { kind, content } of slides) {
    if (kind === 'rss') used.rssFeeds.add(rssFeeds.find(({ id }) => id === content?.['feed_id']));
    if (kind === 'calendar') for (const id of calendarIdsOf(content)) show(id, content);
    if (kind === 'timetable') used.timetableGroups.add(timetableGroups.find(({ id }) => id === content?.['group_id']));
  }
  for (const slide of slides) {
    if (slide.kind !== 'template') continue;
    for (const each of reachedBy(slide, 'feeds', rssFeeds)) used.rssFeeds.add(each);
    for (const each of reachedBy(slide, 'sources', apiSources)) used.apiSources.add(each);
    for (const each of reachedBy(slide, 'timetables', timetableGroups, isOfCalendar)) used.timetableGroups.add(each);
    for (const { id } of reachedBy(slide, 'calendars', calendars)) show(id, slide.content);
  }
  return {
    rssFeeds: rssFeeds.filter((each) => used.rssFeeds.has(each)),
    apiSources: apiSources.filter((each) => used.apiSources.has(each)),
    timetableGroups: timetableGroups.filter((each) => used.timetableGroups.has(each)),
    ...(shown.size > 0 && {
      calendars: calendars.flatMap((each) => {
        const showsPrivate = shown.get(each.id);
        return showsPrivate === undefined ? [] : [{ ...each, showsPrivate }];
      }),
    }),
  };
};

/** All playlists of a file, filled in. */
export type Catalogue = ReturnType<typeof catalogueOf>;

/** Parsed files are never modified, so each is filled in once. */
export const catalogueOf = perObject((content: ContentFile) => {
  const shared = fillShared(content);
  const files = new Map(content.playlists.map((playlist) => [playlist.id, playlist]));
  const slides = new Map(content.playlists.map(({ id }): [string, Slide[]] => [id, []]));
  const templates: readonly NamedTemplate[] = [...content.templates, ...designs];
  const lists = roundListsOf(content.playlists, (playlist, slide, index) => {
    const filled = fillSlide(playlist.id, slide, index, templates);
    slides.get(playlist.id)?.push(filled);
    return filled;
  });
  const records = new Map(
    content.playlists.map(({ id, name, fade_between_slides }) => [
      id,
      { id, name: shownName(name ?? id), fade_between_slides: fade_between_slides ?? true },
    ]),
  );
  return {
    /** Null in place of one: there is none with this id. */
    playlist: (id: string | null): ScreenDocument['playlist'] => records.get(id ?? '') ?? null,
    /** Its own slides, without those of nested and inserted playlists. */
    slides: (id: string): readonly Slide[] => slides.get(id) ?? [],
    isSynchronized: (id: string | null): boolean => files.get(id ?? '')?.sync === true,
    /** Whether a playlist plays as it is listed. */
    isPlain: (id: string | null): boolean => {
      const file = files.get(id ?? '');
      return file === undefined || isPlain(file);
    },
    lists,
    /** The feeds, sources and groups that slides name. */
    usedBy: (named: readonly Slide[]): Data => usedBy(named, shared),
  };
});

/** What a screen plays beyond one playlist as it is listed, as a text; null: nothing. It does not depend on the time. */
const planText = (
  content: ContentFile,
  screen: ContentFile['screens'][number],
  catalogue: Catalogue,
): string | null => {
  const programmes = programmesOf(content.programmes, screen);
  const zones = zonesOf(screen);
  const own = screen.playlist_id ?? null;
  if (programmes.length === 0 && zones.length === 0 && catalogue.isPlain(own)) return null;
  const named = [
    own ?? '',
    ...programmes.map(({ playlist_id }) => playlist_id),
    ...zones.map((zone) => zone.playlistId),
  ];
  const needed = [...reachableFrom(named, catalogue.lists)].sort();
  return JSON.stringify([
    programmes,
    zones,
    needed.map((id) => {
      const { order, insert, items } = catalogue.lists.get(id) ?? {};
      const parts = items?.map((item) => ('slide' in item ? partOf(item.slide).digest : item.playlist_id));
      return [id, catalogue.playlist(id), catalogue.isSynchronized(id), order, insert, parts];
    }),
  ]);
};

/**
 * Fills in the file. A screen whose digest equals that in `before` keeps its times; a changed one is modified, and a new
 * one created, at `changedAt` (ISO 8601). Times that the file gives take precedence.
 */
export const modelOf = (content: ContentFile, before: Stamps, changedAt: string): Model => {
  const catalogue = catalogueOf(content);
  const none = { playlist: null, slides: [], rssFeeds: [], apiSources: [], timetableGroups: [] };
  const styled = content.style === undefined ? null : { style: content.style };
  const filled = new Map<string, Omit<ScreenDocument, 'screen'>>();
  for (const { id, sync } of content.playlists) {
    const slides = [...catalogue.slides(id)];
    filled.set(id, {
      playlist: catalogue.playlist(id),
      slides,
      ...(sync ? { sync: true as const } : null),
      ...catalogue.usedBy(slides),
    });
  }

  const screenDocuments = new Map<string, ScreenDocument>();
  const stamps = new Map<string, Stamp>();
  for (const file of content.screens) {
    const { id, name, slug, playlist_id, created_at, modified_at } = file;
    const identity = { id: id ?? slug, name: shownName(name), slug, playlist_id: playlist_id ?? null };
    const body = { ...(filled.get(playlist_id ?? '') ?? none), ...styled };
    const plan = planText(content, file, catalogue);
    const digest = digestOf(`[${JSON.stringify(identity)},${textOf(body)}${plan === null ? '' : `,${plan}`}]`);
    const known = before.get(slug);
    const stamp: Stamp = {
      created_at: utc(created_at) ?? known?.created_at ?? changedAt,
      modified_at: utc(modified_at) ?? (known?.digest === digest ? known.modified_at : changedAt),
      digest,
    };
    const screen: Screen = { ...identity, created_at: stamp.created_at, modified_at: stamp.modified_at };
    stamps.set(slug, stamp);
    screenDocuments.set(slug, { screen, ...body });
  }
  return { screenDocuments, stamps };
};

const utc = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();
