/** A takeover that is being composed; pure. */
import { tagTarget } from '../model/targets.ts';
import type { Level } from '../model/wire.ts';

export interface Composition {
  level: Level;
  title: string;
  body: string;
  /** `/media/NAME`, or an http(s) URL; empty: none. */
  mediaUrl: string;
  /** All screens, or the selected ones. */
  isAll: boolean;
  tags: readonly string[];
  slugs: readonly string[];
  /** How long, in minutes; null: until {@link Composition.until}. */
  minutes: number | null;
  /** Wall-clock time of the site, `YYYY-MM-DDTHH:MM`. */
  until: string;
}

export const emptyComposition: Composition = {
  level: 'info',
  title: '',
  body: '',
  mediaUrl: '',
  isAll: true,
  tags: [],
  slugs: [],
  minutes: 30,
  until: '',
};

export const targetsOf = ({ isAll, tags, slugs }: Pick<Composition, 'isAll' | 'tags' | 'slugs'>): string[] =>
  isAll ? ['all'] : [...tags.map(tagTarget), ...slugs];

/** The field that keeps it from being sent; null: none. */
export const missingIn = (
  composition: Composition,
  until: number | null,
  now: number,
): 'title' | 'targets' | 'until' | null => {
  if (composition.title.trim() === '' && composition.mediaUrl === '') return 'title';
  if (targetsOf(composition).length === 0) return 'targets';
  return until === null || until <= now ? 'until' : null;
};

/** A unique id that contains the time. */
export const takeoverId = (now: number, random: number): string =>
  `${new Date(now).toISOString().slice(0, 16).replace(/[-:]/g, '').toLowerCase()}-${Math.floor(random * 36 ** 6)
    .toString(36)
    .padStart(6, '0')}`;
