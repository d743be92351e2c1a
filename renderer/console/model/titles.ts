/** The display name of a slide without a title; pure. */
import type { SlideDraft } from './document.ts';

type Named = Pick<SlideDraft, 'title' | 'body' | 'media_url' | 'content'>;

export const plainText = (html: string | null | undefined): string => (html ?? '').replace(/<[^>]*>/g, ' ').trim();

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The file name of `/media/NAME`; of other addresses the part after the scheme. */
export const mediumName = (url: string): string =>
  decoded(url.replace(/^\/media\//, '').replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')).replace(/\/$/, '');

/** The first text among the values of a template. */
const firstValue = (content: SlideDraft['content']): string | undefined =>
  Object.values(content ?? {}).find((value): value is string => typeof value === 'string' && value.trim() !== '');

/** Its words, without markup; empty: it has none. */
export const wordsOf = ({ title, body }: Pick<Named, 'title' | 'body'>): string => title?.trim() || plainText(body);

export const titleOf = (slide: Named & { kind?: string }, id: string): string =>
  wordsOf(slide) ||
  (slide.media_url ? mediumName(slide.media_url) : '') ||
  (slide.kind === 'template' ? firstValue(slide.content) : undefined) ||
  id;
