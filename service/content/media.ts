/** Which files under `/media/` the content names. */
import type { ContentFile } from '../contract/content.ts';
import { designs } from '../contract/designs.ts';
import { messagePrefix } from '../contract/messages.ts';
import { perObject } from '../domain/collections.ts';
import { addressOf, loadedAddress } from '../domain/markup.ts';
import { mediaNameIn, remoteAddress } from '../domain/media-names.ts';
import { slideId, slideLabel } from '../domain/slides.ts';
import { type Path, spellPath } from './labels.ts';
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
  /** Names of files, and addresses of remote media, in the order of the slides. */
  order: ReadonlySet<string>;
  names: ReadonlySet<string>;
  uses: ReadonlyMap<string, MediaUse>;
  remoteUses: ReadonlyMap<string, MediaUse>;
  slides: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What an address stands for: the name of a file, or a remote address; null: neither. */
export const mediumAt = (address: string): string | null => mediaNameIn(address) ?? remoteAddress(address);

/** A file name has no slash. */
export const isRemote = (medium: string): boolean => medium.includes('/');

/** Parsed files are never modified, so each is scanned once. */
const read = perObject((file: ContentFile): MediaNames => collect(file));

/** File names without duplicates, in the order of the slides. */
export const mediaNamed = (file: ContentFile): ReadonlySet<string> => read(file).names;

/** File names and remote addresses without duplicates, in the order of the slides. */
export const mediaInOrder = (file: ContentFile): ReadonlySet<string> => read(file).order;

/** The first use of each remote medium of {@link mediaInOrder}. */
export const remoteUses = (file: ContentFile): ReadonlyMap<string, MediaUse> => read(file).remoteUses;

/** The first use of each file of {@link mediaNamed}. */
export const mediaUses = (file: ContentFile): ReadonlyMap<string, MediaUse> => read(file).uses;

/** The ids of the slides that use each file of {@link mediaNamed}. */
export const mediaSlides = (file: ContentFile): ReadonlyMap<string, ReadonlySet<string>> => read(file).slides;

const collect = ({ playlists, templates, messages, calendars, style }: ContentFile): MediaNames => {
  const all = new Map<string, MediaUse>();
  const slidesOf = new Map<string, Set<string>>();
  const note = (address: unknown, usedBy: string, useOf: () => MediaUse): void => {
    const medium = typeof address === 'string' ? mediumAt(address) : null;
    if (medium === null) return;
    if (!isRemote(medium)) slidesOf.set(medium, (slidesOf.get(medium) ?? new Set()).add(usedBy));
    if (!all.has(medium)) all.set(medium, useOf());
  };
  const markupOf = new Map([...templates, ...designs].map(({ id, html }) => [id, html]));
  for (const [at, { id, slides }] of playlists.entries()) {
    for (const [index, slide] of slides.entries()) {
      if (isNested(slide)) continue;
      const usedBy = slideId(id, slide, index);
      const add = (address: unknown, ...field: Path): void =>
        note(address, usedBy, () => ({
          path: spellPath(['playlists', at, 'slides', index, ...field]),
          label: slideLabel(slide.title, usedBy),
        }));
      add(slide.media_url, 'media_url');
      // Values of a template may be media, under any key.
      eachValue(slide.content ?? {}, ['content'], add);
      for (const address of inMarkup(slide.body)) add(address, 'body');
      for (const address of inMarkup(markupOf.get(slide.template_id ?? ''))) add(address, 'template_id');
    }
  }
  for (const [at, { id, title, media_url }] of messages.entries()) {
    const usedBy = messagePrefix + id;
    const path = ['messages', at, 'media_url'];
    note(media_url, usedBy, () => ({ path: spellPath(path), label: slideLabel(title, usedBy) }));
  }
  for (const [at, { id, name, url }] of calendars.entries())
    note(url, id, () => ({ path: spellPath(['calendars', at, 'url']), label: slideLabel(name, id) }));
  const { logo_url, fonts } = style ?? {};
  for (const [path, address] of [
    ['style.logo_url', logo_url],
    ['style.fonts.display', fonts?.display],
    ['style.fonts.text', fonts?.text],
  ] as const)
    note(address, 'style', () => ({ path, label: '"style"' }));
  const some = (areRemote: boolean) => new Map([...all].filter(([medium]) => isRemote(medium) === areRemote));
  const uses = some(false);
  return {
    order: new Set(all.keys()),
    names: new Set(uses.keys()),
    uses,
    remoteUses: some(true),
    slides: slidesOf,
  };
};
