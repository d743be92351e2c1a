/** Which media of the box's own the content names. */
import { isMediaName } from '../media/names.ts';
import { addressOf, loadedAddress } from '../wire/markup.ts';
import type { ContentFile } from './file.ts';

const IN_MARKUP = loadedAddress('/media/');

/** The name behind a path, without query and fragment; null where it can be none. */
const nameOf = (path: string): string | null => {
  const [, encoded = ''] = /^\/media\/([^/?#]+)(?:[?#].*)?$/.exec(path) ?? [];
  try {
    const name = decodeURIComponent(encoded);
    return isMediaName(name) ? name : null;
  } catch {
    return null;
  }
};

const inMarkup = (markup: string | null | undefined): string[] => (markup?.match(IN_MARKUP) ?? []).map(addressOf);

/** A file that was read is never changed, so each is gone through once. */
const known = new WeakMap<ContentFile, ReadonlySet<string>>();

/** The names, each once, in the order in which they are shown. */
export const mediaNamed = (file: ContentFile): ReadonlySet<string> => {
  const names = known.get(file) ?? collect(file);
  known.set(file, names);
  return names;
};

const collect = ({ playlists, templates }: ContentFile): Set<string> => {
  const names = new Set<string>();
  const add = (path: unknown): void => {
    const name = typeof path === 'string' ? nameOf(path) : null;
    if (name !== null) names.add(name);
  };
  const markupOf = new Map(templates.map(({ id, html }) => [id, html]));
  for (const slide of playlists.flatMap(({ slides }) => slides)) {
    add(slide.media_url);
    // A template is given its media in its values, by whatever names.
    for (const value of Object.values(slide.content ?? {})) add(value);
    for (const path of [...inMarkup(slide.body), ...inMarkup(markupOf.get(slide.template_id ?? ''))]) add(path);
  }
  return names;
};
