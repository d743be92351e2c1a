/** Which files under `/media/` the content names. */

import type { ContentFile } from '../contract/content.ts';
import { designs } from '../contract/designs.ts';
import { messagePrefix } from '../contract/messages.ts';
import { addressOf, loadedAddress } from '../domain/markup.ts';
import { mediaNameIn } from '../domain/media-names.ts';
import { slideId } from '../domain/slides.ts';
import { type Path, slideLabel, spellPath } from './labels.ts';
import { isNested } from './round-lists.ts';

const MEDIA = '/media/';
const IN_MARKUP = loadedAddress(MEDIA);

// Most texts name nothing, which a search for a fixed text finds out much faster.
const inMarkup = (markup: string | null | undefined): string[] =>
  markup?.includes(MEDIA) ? (markup.match(IN_MARKUP) ?? []).map(addressOf) : [];

/** The first place in the content that names a medium. */
export interface MediaUse {
  /** Path of the field in `content.json`. */
  path: string;
  /** The slide's title or id, in quotes. */
  label: string;
}

/** Calls `visit` with each value of a template, those in lists included, and its path. */
const eachValue = (value: unknown, path: Path, visit: (value: unknown, ...path: Path) => void): void => {
  if (typeof value !== 'object' || value === null) return visit(value, ...path);
  for (const [key, each] of Object.entries(value)) {
    eachValue(each, [...path, Array.isArray(value) ? Number(key) : key], visit);
  }
};

interface MediaNames {
  names: ReadonlySet<string>;
  uses: ReadonlyMap<string, MediaUse>;
  slides: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Parsed files are never modified, so each is scanned once. */
const cache = new WeakMap<ContentFile, MediaNames>();

const read = (file: ContentFile): MediaNames => {
  const found = cache.get(file) ?? collect(file);
  cache.set(file, found);
  return found;
};

/** File names without duplicates, in the order of the slides. */
export const mediaNamed = (file: ContentFile): ReadonlySet<string> => read(file).names;

/** The first use of each file of {@link mediaNamed}. */
export const mediaUses = (file: ContentFile): ReadonlyMap<string, MediaUse> => read(file).uses;

/** The ids of the slides that use each file of {@link mediaNamed}. */
export const mediaSlides = (file: ContentFile): ReadonlyMap<string, ReadonlySet<string>> => read(file).slides;

const collect = ({ playlists, templates, messages, calendars, style }: ContentFile): MediaNames => {
  const uses = new Map<string, MediaUse>();
  const slidesOf = new Map<string, Set<string>>();
  const markupOf = new Map([...templates, ...designs].map(({ id, html }) => [id, html]));
  for (const [at, { id, slides }] of playlists.entries()) {
    for (const [index, slide] of slides.entries()) {
      if (isNested(slide)) continue;
      const add = (address: unknown, ...field: Path): void => {
        const name = typeof address === 'string' ? mediaNameIn(address) : null;
        if (name === null) return;
        const slideIdHere = slideId(id, slide, index);
        slidesOf.set(name, (slidesOf.get(name) ?? new Set()).add(slideIdHere));
        if (uses.has(name)) return;
        const path = spellPath(['playlists', at, 'slides', index, ...field]);
        uses.set(name, { path, label: slideLabel(slide.title, slideIdHere) });
      };
      add(slide.media_url, 'media_url');
      // Values of a template may be media, under any key.
      eachValue(slide.content ?? {}, ['content'], add);
      for (const address of inMarkup(slide.body)) add(address, 'body');
      for (const address of inMarkup(markupOf.get(slide.template_id ?? ''))) add(address, 'template_id');
    }
  }
  for (const [at, { id, title, media_url }] of messages.entries()) {
    const name = media_url == null ? null : mediaNameIn(media_url);
    if (name === null) continue;
    const usedBy = messagePrefix + id;
    slidesOf.set(name, (slidesOf.get(name) ?? new Set()).add(usedBy));
    if (!uses.has(name)) {
      uses.set(name, { path: spellPath(['messages', at, 'media_url']), label: slideLabel(title, usedBy) });
    }
  }
  for (const [at, { id, name: label, url }] of calendars.entries()) {
    const name = mediaNameIn(url);
    if (name === null) continue;
    slidesOf.set(name, (slidesOf.get(name) ?? new Set()).add(id));
    if (!uses.has(name)) {
      uses.set(name, { path: spellPath(['calendars', at, 'url']), label: slideLabel(label, id) });
    }
  }
  const { logo_url, fonts } = style ?? {};
  for (const [path, address] of [
    ['style.logo_url', logo_url],
    ['style.fonts.display', fonts?.display],
    ['style.fonts.text', fonts?.text],
  ] as const) {
    const name = mediaNameIn(address ?? '');
    if (name === null) continue;
    slidesOf.set(name, (slidesOf.get(name) ?? new Set()).add('style'));
    if (!uses.has(name)) uses.set(name, { path, label: '"style"' });
  }
  return { names: new Set(uses.keys()), uses, slides: slidesOf };
};
