/** Which media of the box's own the content names. */

import { addressOf, loadedAddress } from '../domain/markup.ts';
import { isMediaName } from '../domain/media-names.ts';
import type { ContentFile } from './file.ts';
import { type Path, slideId, slideLabel, spellPath } from './labels.ts';

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

/** Where the content names a medium first. */
export interface MediaUse {
  /** Of the field, in the file. */
  path: string;
  /** The slide's title or id, in quotes. */
  label: string;
}

interface MediaNames {
  names: ReadonlySet<string>;
  uses: ReadonlyMap<string, MediaUse>;
}

/** A file that was read is never changed, so each is gone through once. */
const known = new WeakMap<ContentFile, MediaNames>();

const read = (file: ContentFile): MediaNames => {
  const found = known.get(file) ?? collect(file);
  known.set(file, found);
  return found;
};

/** The names, each once, in the order in which they are shown. */
export const mediaNamed = (file: ContentFile): ReadonlySet<string> => read(file).names;

/** Where each of {@link mediaNamed} is named. */
export const mediaUses = (file: ContentFile): ReadonlyMap<string, MediaUse> => read(file).uses;

const collect = ({ playlists, templates }: ContentFile): MediaNames => {
  const uses = new Map<string, MediaUse>();
  const markupOf = new Map(templates.map(({ id, html }) => [id, html]));
  for (const [at, { id, slides }] of playlists.entries()) {
    for (const [index, slide] of slides.entries()) {
      const add = (address: unknown, ...field: Path): void => {
        const name = typeof address === 'string' ? nameOf(address) : null;
        if (name === null || uses.has(name)) return;
        const path = spellPath(['playlists', at, 'slides', index, ...field]);
        uses.set(name, { path, label: slideLabel(slide.title, slideId(id, slide, index)) });
      };
      add(slide.media_url, 'media_url');
      // A template is given its media in its values, by whatever names.
      for (const [key, value] of Object.entries(slide.content ?? {})) add(value, 'content', key);
      for (const address of inMarkup(slide.body)) add(address, 'body');
      for (const address of inMarkup(markupOf.get(slide.template_id ?? ''))) add(address, 'template_id');
    }
  }
  return { names: new Set(uses.keys()), uses };
};
