/** Payloads are public: slides without the user and password of their media. */
import type { Slide } from '../contract/playlist.ts';
import { withoutCredentials } from '../domain/media-names.ts';

/** The same slide gives the same result; it is the slide itself if there is nothing to hide. */
const known = new WeakMap<Slide, Slide>();

const hide = (slide: Slide): Slide => {
  const media_url = slide.media_url && withoutCredentials(slide.media_url);
  const fallback = slide.content?.['fallback_media_url'];
  const fallback_media_url = typeof fallback === 'string' ? withoutCredentials(fallback) : fallback;
  if (media_url === slide.media_url && fallback_media_url === fallback) return slide;
  const content = fallback === undefined ? slide.content : { ...slide.content, fallback_media_url };
  return { ...slide, media_url, content };
};

export const publicSlide = (slide: Slide): Slide => {
  const found = known.get(slide) ?? hide(slide);
  known.set(slide, found);
  return found;
};

/** The same list gives the same result. */
const lists = new WeakMap<readonly Slide[], Slide[]>();

export const publicOf = (slides: Slide[]): Slide[] => {
  const found = lists.get(slides);
  if (found !== undefined) return found;
  const hidden = slides.map(publicSlide);
  const result = hidden.every((slide, index) => slide === slides[index]) ? slides : hidden;
  lists.set(slides, result);
  return result;
};
