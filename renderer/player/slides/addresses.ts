import { addressOf, loadedAddress } from '../../../service/domain/markup.ts';

const ADDRESS = loadedAddress('/media/|https?://');
/** Whether a remote address is a picture is known only by its extension. */
const MEDIUM = /^\/media\/|\.(?:a?png|jpe?g|jfif|gif|webp|avif|bmp|svg)(?:[?#]|$)/i;

/** Feeds and APIs can name any number of pictures. */
const MOST_MEDIA = 200;

/** Every `/media/NAME` and every remote picture that the markup loads, each once, up to 200. */
export const mediaIn = (html: string): string[] =>
  [
    ...new Set(
      html
        .match(ADDRESS)
        ?.map(addressOf)
        .filter((url) => MEDIUM.test(url)),
    ),
  ].slice(0, MOST_MEDIA);

/** Resolves the media that a markup names to the addresses to load them from. */
export interface Addresses {
  /** Whether all media of the markup are resolved. */
  know(html: string): boolean;
  /** Resolves the missing ones. A medium that is not available keeps its own address, and the rest is shown. */
  learn(html: string): Promise<void>;
  /** The markup with the resolved addresses in it. */
  apply(html: string): string;
}

export const createAddresses = (media: (url: string) => Promise<string>): Addresses => {
  const known = new Map<string, string>();
  const unknownIn = (html: string): string[] => mediaIn(html).filter((url) => !known.has(url));
  return {
    know: (html) => unknownIn(html).length === 0,
    learn: async (html) => {
      await Promise.all(unknownIn(html).map(async (url) => known.set(url, await media(url).catch(() => url))));
    },
    apply: (html) => html.replace(ADDRESS, (url) => known.get(addressOf(url)) ?? url),
  };
};
