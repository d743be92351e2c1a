/** Where an issue of the box is in the console, and what is at fault, by its name. Pure. */
import { slideId } from '../../../service/domain/slides.ts';
import { type ContentDocument, type Fields, titleOf } from './document.ts';
import type { ContentIssue } from './wire.ts';

export interface IssuePlace {
  /** The address of its page. */
  path: readonly string[];
  /** The record: a playlist, a screen, ...; null: the document as a whole. */
  name: string | null;
  slide: string | null;
  field: string | null;
}

/** The tab of each list; the others are edited as JSON alone. */
const tabs: Readonly<Record<string, string>> = {
  playlists: 'playlists',
  screens: 'screens',
  programmes: 'week',
  templates: 'sources',
  rssFeeds: 'sources',
  apiSources: 'sources',
  timetableGroups: 'sources',
  calendars: 'sources',
  style: 'style',
};

/** The name of a record as people know it: a programme without one has that of its playlist. */
const nameOf = (record: Fields, { playlists = [] }: ContentDocument): string => {
  const playlist = playlists.find(({ id }) => id === record['playlist_id']);
  const own = record['name'] || record['title'] || record['slug'];
  return String(own || playlist?.name || playlist?.id || record['id'] || '');
};

/** The first target of a programme whose week can be shown. */
const targetOf = ({ targets }: Fields, { screens }: ContentDocument): string => {
  const known = (target: unknown): target is string =>
    typeof target === 'string' && (target.startsWith('tag:') || screens.some(({ slug }) => slug === target));
  return Array.isArray(targets) ? (targets.find(known) ?? 'all') : 'all';
};

/** What the address of a tab ends with: which record, and which of its fields. */
const recordPath = (list: string, record: Fields, field: string, document: ContentDocument): string[] => {
  const [first = ''] = field.split(/[.[]/);
  const key = String((list === 'screens' ? record['slug'] : record['id']) ?? '');
  const before = list === 'programmes' ? [targetOf(record, document)] : list === 'screens' ? [] : [list];
  // An address has no empty part.
  return key === '' ? [] : [...before, key, ...(first === '' ? [] : [first])];
};

export const placeOf = ({ path }: Pick<ContentIssue, 'path'>, document: ContentDocument): IssuePlace => {
  const [, list = '', at, rest = ''] = /^(\w+)(?:\[(\d+)\])?\.?(.*)$/.exec(path) ?? [];
  const tab = tabs[list];
  if (list === 'style') {
    const here = ['content', 'style', ...(rest === '' ? [] : [rest])];
    return { path: here, name: null, slide: null, field: rest || null };
  }
  const records: unknown = at === undefined ? undefined : document[list];
  const record = Array.isArray(records) ? (records[Number(at)] as Fields | undefined) : undefined;
  const name = record == null ? null : nameOf(record, document);
  if (tab === undefined) {
    return { path: ['content', 'json'], name, slide: null, field: (name === null ? path : rest) || null };
  }
  const playlist = list === 'playlists' && at !== undefined ? document.playlists?.[Number(at)] : undefined;
  const [, index, field = ''] = /^slides\[(\d+)\]\.?(.*)$/.exec(rest) ?? [];
  const slide = index === undefined ? undefined : playlist?.slides[Number(index)];
  if (playlist === undefined) {
    const more = record == null ? [] : recordPath(list, record, rest, document);
    return { path: ['content', tab, ...more], name, slide: null, field: rest || null };
  }
  const here = ['content', 'playlists', playlist.id];
  if (slide === undefined) return { path: here, name, slide: null, field: rest || null };
  const id = slideId(playlist.id, slide, Number(index));
  // Of `content.feed_id` the form has the last part.
  const last = field.split(/[.[]/).at(field.startsWith('content.') ? 1 : 0) ?? '';
  return {
    path: [...here, id, ...(last === '' ? [] : [last])],
    name,
    slide: `${Number(index) + 1}. ${titleOf(slide, id)}`,
    field: last || null,
  };
};

/** A field in words: `hours[1].open` is "Opening hours 2 › Opens". @param wordOf the word for a name */
export const fieldInWords = (field: string, wordOf: (name: string) => string): string =>
  field
    .split('.')
    .map((part) => {
      const [, name = part, at] = /^(.*?)(?:\[(\d+)\])?$/.exec(part) ?? [];
      return at === undefined ? wordOf(name) : `${wordOf(name)} ${Number(at) + 1}`;
    })
    .join(' › ');
