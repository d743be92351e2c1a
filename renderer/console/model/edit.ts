/** Edits of the document; pure: each returns the next one. */
import { merge } from '../../../service/domain/merge-documents.ts';
import { withRenamedMedium } from '../../../service/domain/renamed-media.ts';
import { slideId } from '../../../service/domain/slides.ts';
import {
  type ContentDocument,
  mediumUrl,
  type PlaylistDraft,
  type ProgrammeDraft,
  type ScreenDraft,
  type SlideDraft,
} from './document.ts';

/** The lists of records at the root of the document. */
export const listNames = [
  'screens',
  'playlists',
  'programmes',
  'templates',
  'rssFeeds',
  'apiSources',
  'timetableGroups',
  'calendars',
  'messages',
] as const;
export type ListName = (typeof listNames)[number];

export const replaceAt = <Item>(list: readonly Item[], index: number, item: Item): Item[] =>
  list.map((each, at) => (at === index ? item : each));

export const removeAt = <Item>(list: readonly Item[], index: number): Item[] => list.filter((_, at) => at !== index);

export const insertAt = <Item>(list: readonly Item[], index: number, item: Item): Item[] => [
  ...list.slice(0, index),
  item,
  ...list.slice(index),
];

/** With the item, or without it if it was there. */
export const toggled = <Item>(list: readonly Item[], item: Item): Item[] =>
  list.includes(item) ? list.filter((each) => each !== item) : [...list, item];

/** Moves the items at `places` together, before the one that is at the index `gap` now. */
export const moveAll = <Item>(list: readonly Item[], places: ReadonlySet<number>, gap: number): Item[] => {
  const rest = (item: Item, index: number): Item[] => (places.has(index) ? [] : [item]);
  return [
    ...list.slice(0, gap).flatMap(rest),
    ...list.filter((_, index) => places.has(index)),
    ...list.slice(gap).flatMap((item, index) => rest(item, gap + index)),
  ];
};

/** A random end of an id, so that two editors who each add a record of one kind do not make the same id. */
export const randomEnd = (): string => `-n${Math.floor(100_000 + Math.random() * 900_000)}`;

/** `base`, or `base-2`, `base-3`, ... if it is taken. @param end of the id, before the number */
export const freeId = (base: string, taken: Iterable<string>, end = ''): string => {
  const known = new Set(taken);
  const stem =
    base
      .toLowerCase()
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 48) || 'new';
  for (let count = 1; ; count += 1) {
    const id = stem + end + (count === 1 ? '' : `-${count}`);
    if (!known.has(id)) return id;
  }
};

export const setList = <Name extends ListName>(
  content: ContentDocument,
  name: Name,
  list: NonNullable<ContentDocument[Name]>,
): ContentDocument => ({ ...content, [name]: list });

/** With other programmes, if there are any. */
const withProgrammes = (
  content: ContentDocument,
  edit: (programmes: readonly ProgrammeDraft[]) => ProgrammeDraft[],
): ContentDocument =>
  content.programmes === undefined ? content : setList(content, 'programmes', edit(content.programmes));

export const editPlaylist = (
  content: ContentDocument,
  id: string,
  edit: (playlist: PlaylistDraft) => PlaylistDraft,
): ContentDocument =>
  setList(
    content,
    'playlists',
    (content.playlists ?? []).map((playlist) => (playlist.id === id ? edit(playlist) : playlist)),
  );

/**
 * Gives each slide an id of its own before the list is changed: the ids that the service makes go by position, and a slide
 * that moves would be another one. Where another slide has the id of the position, a number is added.
 */
export const withIds = (playlist: PlaylistDraft): PlaylistDraft => {
  const taken = new Set(playlist.slides.map(({ id }) => id));
  const slides = playlist.slides.map((slide, index) => {
    if (slide.id !== undefined) return slide;
    const made = slideId(playlist.id, slide, index);
    let id = made;
    for (let number = 2; taken.has(id); number += 1) id = `${made}-${number}`;
    taken.add(id);
    return { id, ...slide };
  });
  return { ...playlist, slides };
};

export const editSlides = (
  content: ContentDocument,
  playlistId: string,
  edit: (slides: readonly SlideDraft[]) => SlideDraft[],
): ContentDocument =>
  editPlaylist(content, playlistId, (playlist) => {
    const named = withIds(playlist);
    return { ...named, slides: edit(named.slides) };
  });

/** Sets a field of a record; empty values are removed. */
export const setField = <Record extends object>(record: Record, name: string, value: unknown): Record => {
  if (value !== undefined && value !== '') return { ...record, [name]: value };
  const { [name as keyof Record]: _, ...rest } = record;
  return rest as Record;
};

/** Without a playlist, and what would name it: screens and zones play nothing then, its programmes end, and no other plays its slides. */
export const withoutPlaylist = (content: ContentDocument, id: string): ContentDocument => {
  const emptied = (screen: ScreenDraft): ScreenDraft => {
    const { playlist_id, zones } = screen;
    const next = playlist_id === id ? { ...screen, playlist_id: null } : screen;
    if (zones?.ticker !== id && zones?.sidebar !== id) return next;
    return {
      ...next,
      zones: Object.fromEntries(Object.entries(zones).map(([zone, own]) => [zone, own === id ? null : own])),
    };
  };
  const isNested = ({ kind, playlist_id }: SlideDraft): boolean => kind === 'playlist' && playlist_id === id;
  const without = (playlist: PlaylistDraft): PlaylistDraft => {
    const alone = playlist.insert?.playlist_id === id ? setField(playlist, 'insert', undefined) : playlist;
    if (!alone.slides.some(isNested)) return alone;
    return { ...alone, slides: withIds(alone).slides.filter((slide) => !isNested(slide)) };
  };
  const next = { ...content, screens: content.screens.map(emptied) };
  const kept = setList(next, 'playlists', (content.playlists ?? []).filter((each) => each.id !== id).map(without));
  return withProgrammes(kept, (programmes) => programmes.filter(({ playlist_id }) => playlist_id !== id));
};

/** With another slug of a screen; the programmes that are for it follow. */
export const withSlug = (content: ContentDocument, slug: string, next: string): ContentDocument => {
  const renamed = setList(
    content,
    'screens',
    content.screens.map((each) => (each.slug === slug ? { ...each, slug: next } : each)),
  );
  return withProgrammes(renamed, (programmes) =>
    programmes.map((programme) =>
      programme.targets.includes(slug)
        ? { ...programme, targets: programme.targets.map((target) => (target === slug ? next : target)) }
        : programme,
    ),
  );
};

/** Without a screen, and the programmes that are only for it. */
export const withoutScreen = (content: ContentDocument, slug: string): ContentDocument => {
  const kept = setList(
    content,
    'screens',
    content.screens.filter((each) => each.slug !== slug),
  );
  return withProgrammes(kept, (programmes) =>
    programmes
      .map((programme) =>
        programme.targets.includes(slug)
          ? { ...programme, targets: programme.targets.filter((target) => target !== slug) }
          : programme,
      )
      .filter(({ targets }) => targets.length > 0),
  );
};

/**
 * The document in which all that was changed since `base` follows a file to its other name; what `base` names stays. Pure.
 */
export const followFile = (
  document: ContentDocument,
  base: ContentDocument,
  from: string,
  to: string,
): ContentDocument => {
  const renamed = (each: ContentDocument): ContentDocument => withRenamedMedium(each, from, to);
  return merge(renamed(base), renamed(document), base).value as ContentDocument;
};

/** The slides whose files have not arrived. @param there names of the files that have */
export const waitingSlides = (slides: readonly SlideDraft[], there: readonly string[]): SlideDraft[] => {
  const urls = new Set<unknown>(there.map(mediumUrl));
  return slides.filter(({ media_url }) => typeof media_url === 'string' && !urls.has(media_url));
};
