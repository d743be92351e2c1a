import { addressOf, loadedAddress } from '../../../service/domain/markup.ts';

const ADDRESS = loadedAddress('/media/|https?://');
/** Of a remote address only its extension tells whether it is a picture. */
const MEDIUM = /^\/media\/|\.(?:a?png|jpe?g|jfif|gif|webp|avif|bmp|svg)(?:[?#]|$)/i;

/** Data of others may hold any number. */
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

/** Where to load the media from that a markup names. */
export interface Addresses {
  /** Whether all of the markup's are known. */
  know(html: string): boolean;
  /** Finds out those that are not. A medium that can't be had keeps its own address: the rest is worth showing. */
  learn(html: string): Promise<void>;
  /** The markup with each medium that is known replaced by the address to load it from. */
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
