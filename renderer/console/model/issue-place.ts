/** Where an issue of the box is in the console, and what is at fault, by its name. Pure. */
import { slideId } from '../../../service/domain/slides.ts';
import { type ContentDocument, type Fields, titleOf } from './document.ts';
import type { ContentIssue } from './wire.ts';

export interface IssuePlace {
  /** The address of its page. */
  path: readonly string[];
  /** The record: a playlist, a screen, ...; null: the document as a whole. */
  name: string | null;
  /** The slide, with its number. */
  slide: string | null;
  field: string | null;
}

const tabs: Readonly<Record<string, string>> = {
  playlists: 'playlists',
  screens: 'screens',
  programmes: 'week',
  templates: 'sources',
  rssFeeds: 'sources',
  apiSources: 'sources',
  timetableGroups: 'sources',
};

export const placeOf = ({ path }: Pick<ContentIssue, 'path'>, document: ContentDocument): IssuePlace => {
  const [, list = '', at, rest = ''] = /^(\w+)(?:\[(\d+)\])?\.?(.*)$/.exec(path) ?? [];
  const tab = tabs[list];
  if (tab === undefined) return { path: ['content', 'json'], name: null, slide: null, field: path || null };
  const record = at === undefined ? undefined : (document[list] as Fields[] | undefined)?.[Number(at)];
  const name = record === undefined ? null : String(record['name'] || record['slug'] || record['id'] || '');
  const playlist = list === 'playlists' && at !== undefined ? document.playlists?.[Number(at)] : undefined;
  const [, index, field = ''] = /^slides\[(\d+)\]\.?(.*)$/.exec(rest) ?? [];
  const slide = index === undefined ? undefined : playlist?.slides[Number(index)];
  if (playlist === undefined) return { path: ['content', tab], name, slide: null, field: rest || null };
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
