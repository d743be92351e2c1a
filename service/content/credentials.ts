/** Payloads are public: what they hold is without the users and passwords of addresses. */
import type { Slide } from '../contract/playlist.ts';
import type { HouseStyle } from '../contract/style.ts';
import { mapTexts, perObject } from '../domain/collections.ts';
import { markupWithoutPasswords, withoutCredentials } from '../domain/media-names.ts';

/** A text without the users and passwords of the addresses in it; where it is an address itself, they may have any characters. */
const clean = <Text extends string | null>(text: Text): Text =>
  (text?.includes('@') === true
    ? markupWithoutPasswords(/\s/.test(text) ? text : withoutCredentials(text))
    : text) as Text;

/** The same slide gives the same result; it is the slide itself if there is nothing to hide. */
export const publicSlide = perObject((slide: Slide): Slide => {
  const media_url = slide.media_url && withoutCredentials(slide.media_url);
  const [body, template, content] = [
    clean(slide.body),
    mapTexts(slide.template, clean),
    mapTexts(slide.content, clean),
  ];
  const isSame =
    media_url === slide.media_url && body === slide.body && template === slide.template && content === slide.content;
  return isSame ? slide : { ...slide, media_url, body, template, content };
});

/** The same list gives the same result. */
export const publicOf = perObject((slides: Slide[]): Slide[] => {
  const hidden = slides.map(publicSlide);
  return hidden.every((slide, index) => slide === slides[index]) ? slides : hidden;
});

/** The same style gives the same result. */
export const publicStyle = perObject((style: HouseStyle): HouseStyle => mapTexts(style, clean));
