/** Names places in the operator's file for people. */
import { slideId, slideLabel } from '../domain/slides.ts';

/** Keys and indices from the root of the file. */
export type Path = readonly PropertyKey[];

export interface Issue {
  path: Path;
  message: string;
  /** What kind of mistake it is, where that matters. */
  code?: string;
}

export const quoted = (text: string): string => JSON.stringify(text);

/** `playlists[0].slides[2].kind`; empty for the whole file. */
export const spellPath = (path: Path): string =>
  path.reduce<string>((spelled, key) => {
    if (typeof key === 'number') return `${spelled}[${key}]`;
    return spelled === '' ? String(key) : `${spelled}.${String(key)}`;
  }, '');

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const memberOf = (value: unknown, key: PropertyKey | undefined): unknown =>
  typeof value === 'object' && value !== null && key !== undefined && Object.hasOwn(value, key)
    ? (value as Record<PropertyKey, unknown>)[key]
    : undefined;

/**
 * Prefixes a message about a slide with the slide's title or id.
 * @param json content of the file, valid or not
 */
export const labelled = (json: unknown, path: Path, message: string): string => {
  const [list, at, slides, index] = path;
  if (list !== 'playlists' || slides !== 'slides' || typeof index !== 'number') return message;
  const playlist = memberOf(memberOf(json, list), at);
  const slide = memberOf(memberOf(playlist, slides), index);
  const id = slideId(textOf(memberOf(playlist, 'id')) ?? 'slide', { id: textOf(memberOf(slide, 'id')) }, index);
  return `${slideLabel(textOf(memberOf(slide, 'title')), id)}: ${message}`;
};
