/** Markup of texts and templates: made harmless, and with the addresses that its media are loaded from. */
import DOMPurify from 'dompurify';
import { addressOf, loadedAddress } from '../../../service/domain/markup.ts';
import { excess, type Richness } from '../../../service/domain/markup-limits.ts';

const ADDRESS = loadedAddress('/media/|https?://');
/** Whether a remote address is a picture is known only by its extension. */
const MEDIUM = /^\/media\/|\.(?:a?png|jpe?g|jfif|gif|webp|avif|bmp|svg)(?:[?#]|$)/i;

/** Feeds and APIs can name any number of pictures. */
export const MOST_MEDIA = 200;

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

export const createAddresses = (media: (url: string) => Promise<string>) => {
  const known = new Map<string, string>();
  const unknownIn = (html: string): string[] => mediaIn(html).filter((url) => !known.has(url));
  return {
    /** Whether all media of the markup are resolved. */
    know: (html: string): boolean => unknownIn(html).length === 0,
    /**
     * Resolves the missing ones, and forgets those that are not in the markup: an address may change each second. A medium
     * that is not available keeps its own address, and the rest is shown.
     */
    learn: async (html: string): Promise<void> => {
      const named = mediaIn(html);
      for (const url of known.keys()) if (!named.includes(url)) known.delete(url);
      await Promise.all(unknownIn(html).map(async (url) => known.set(url, await media(url).catch(() => url))));
    },
    /** The markup with the resolved addresses in it. */
    apply: (html: string): string => html.replace(ADDRESS, (url) => known.get(addressOf(url)) ?? url),
  };
};

const ELEMENTS =
  'a|abbr|article|b|big|blockquote|br|caption|center|cite|code|col|colgroup|dd|del|div|dl|dt|em|figcaption|figure|font|' +
  'footer|frameset|h[1-6]|header|hr|i|img|ins|kbd|li|main|mark|ol|p|picture|pre|q|s|script|section|small|span|strike|strong|' +
  'style|sub|sup|svg|table|tbody|td|tfoot|th|thead|time|tr|u|ul|video|wbr';
const TAG = new RegExp(`<(?:/?(?:${ELEMENTS})(?:\\s+[a-z][^<>]*)?\\s*/?>|!--)`, 'i');

/** Whether a text contains a tag that HTML defines. `1 < 2` and `<3` are plain text. */
export const isHtml = (text: string): boolean => TAG.test(text);

const ADDRESSES = /^(?:https?:|blob:|data:(?:image|video|audio|font)\/|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i;

const INTERACTIVE = ['form', 'input', 'textarea', 'select', 'button', 'dialog', 'audio', 'video'];

const TAG_WITH_ATTRIBUTES = /<[a-z](?:"[^"]*"|'[^']*'|[^"'<>])*>/gi;
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*))?/g;

/**
 * Removes event handlers. The sanitiser does so reliably; this runs before it, because the browser reports each parsed handler
 * as a violation of the page's policy.
 */
const withoutHandlers = (html: string): string =>
  html.replace(TAG_WITH_ATTRIBUTES, (tag) =>
    tag.replace(ATTRIBUTE, (attribute, name: string) => (/^on[a-z]/i.test(name) ? '' : attribute)),
  );

/**
 * HTML without scripts, frames, media and forms, as a detached body; it loads nothing until it
 * is inserted into the document. `prose` removes its styles too, so that it looks like the rest of the player.
 * @throws Error for a frameset document, which has no body
 */
export const cleanHtml = (html: string, kind: 'page' | 'prose'): HTMLElement => {
  const body = DOMPurify.sanitize(withoutHandlers(html), {
    RETURN_DOM: true,
    FORCE_BODY: true,
    ALLOWED_URI_REGEXP: ADDRESSES,
    FORBID_TAGS: kind === 'page' ? INTERACTIVE : [...INTERACTIVE, 'style'],
    FORBID_ATTR: ['autofocus', 'tabindex', ...(kind === 'page' ? [] : ['style', 'class', 'id'])],
  }) as HTMLElement | null;
  if (body?.localName !== 'body') throw new Error('it is a frameset, which holds pages and nothing to show');
  return body;
};

/** The content of an element, as {@link Richness} counts it. */
export const richnessOf = (root: Element): Richness => {
  const unseen = [...root.querySelectorAll('style')].reduce((sum, { textContent }) => sum + textContent.length, 0);
  return { characters: root.textContent.length - unseen, elements: root.querySelectorAll('*').length };
};

/** @throws Error if a slide has more content than can be laid out in time */
export const requireModest = (found: Richness, limit: Richness): void => {
  const reason = excess(found, limit);
  if (reason !== null) throw new Error(`the slide is too rich: ${reason}`);
};

/** Resolves when all pictures under the root and at the addresses are decoded or have failed. */
export const picturesDecoded = async (root: ParentNode, addresses: readonly string[] = []): Promise<void> => {
  const named = addresses.map((url) => {
    const image = new Image();
    image.src = url;
    return image;
  });
  await Promise.allSettled([...root.querySelectorAll('img'), ...named].map((image) => image.decode()));
};

/** Hides failed pictures: a gap is better than the icon of a broken picture. */
export const hideBrokenPictures = (root: Node): void => {
  const hide = ({ target }: Event): void => {
    if (target instanceof HTMLImageElement) target.style.visibility = 'hidden';
  };
  root.addEventListener('error', hide, { capture: true });
};
