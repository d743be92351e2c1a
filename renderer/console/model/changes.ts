/** What differs between two versions of the document, and which screens it concerns, by name; pure. */
import { concernedScreens } from '../../../service/domain/affected-screens.ts';
import { slideId } from '../../../service/domain/slides.ts';
import { type ContentDocument, type Fields, isEqual, type PlaylistDraft, plainId, titleOf } from './document.ts';
import { type ListName, listNames } from './edit.ts';

export interface SlideChange {
  type: 'added' | 'removed' | 'changed' | 'moved';
  id: string;
  title: string;
  /** Names of the fields that differ. */
  fields: string[];
}

export interface Change {
  type: 'added' | 'removed' | 'changed';
  list: ListName | 'style';
  name: string;
  /** Names of the fields that differ, slides aside. */
  fields: string[];
  slides: SlideChange[];
}

const keyOf = (record: Fields): string => String(record['slug'] ?? record['id']);

/** What people call a record of a list at the root. */
export const nameOf = (record: Fields): string => String(record['name'] || record['title'] || plainId(keyOf(record)));

const changedFields = (one: Fields, other: Fields): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (key) => key !== 'slides' && !isEqual(one[key], other[key]),
  );

const slideChanges = (before: PlaylistDraft, after: PlaylistDraft): SlideChange[] => {
  const named = (playlist: PlaylistDraft) =>
    new Map(playlist.slides.map((slide, index) => [slideId(playlist.id, slide, index), slide]));
  const [olds, news] = [named(before), named(after)];
  /** The places of those that both have, by id. */
  const kept = (one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>) =>
    new Map([...one.keys()].filter((id) => other.has(id)).map((id, place) => [id, place]));
  const [oldOrder, newOrder] = [kept(olds, news), kept(news, olds)];
  const changes: SlideChange[] = [];
  for (const [id, slide] of news) {
    const old = olds.get(id);
    const title = titleOf(slide, id);
    if (old === undefined) changes.push({ type: 'added', id, title, fields: [] });
    else if (!isEqual(old, slide)) changes.push({ type: 'changed', id, title, fields: changedFields(old, slide) });
    else if (oldOrder.get(id) !== newOrder.get(id)) changes.push({ type: 'moved', id, title, fields: [] });
  }
  for (const [id, slide] of olds) {
    if (!news.has(id)) changes.push({ type: 'removed', id, title: titleOf(slide, id), fields: [] });
  }
  return changes;
};

const styleChanges = ({ style: before }: ContentDocument, { style: after }: ContentDocument): Change[] => {
  if (isEqual(before, after)) return [];
  const type = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  return [{ type, list: 'style', name: '', fields: changedFields(before ?? {}, after ?? {}), slides: [] }];
};

export const changesBetween = (before: ContentDocument, after: ContentDocument): Change[] => [
  ...styleChanges(before, after),
  ...listNames.flatMap((list) => {
    const records = (content: ContentDocument) =>
      new Map(((content[list] ?? []) as Fields[]).map((record) => [keyOf(record), record]));
    const [olds, news] = [records(before), records(after)];
    const changes: Change[] = [];
    for (const [key, record] of news) {
      const old = olds.get(key);
      if (old === undefined) changes.push({ type: 'added', list, name: nameOf(record), fields: [], slides: [] });
      else if (!isEqual(old, record)) {
        const slides = list === 'playlists' ? slideChanges(old as PlaylistDraft, record as PlaylistDraft) : [];
        changes.push({ type: 'changed', list, name: nameOf(record), fields: changedFields(old, record), slides });
      }
    }
    for (const [key, record] of olds) {
      if (!news.has(key)) changes.push({ type: 'removed', list, name: nameOf(record), fields: [], slides: [] });
    }
    return changes;
  }),
];

/** The names of the screens on which something differs. */
export const screensConcerned = (before: ContentDocument, after: ContentDocument): string[] =>
  concernedScreens(before, after).map(({ name, slug }) => name || slug);
