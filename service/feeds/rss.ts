/** Converts feeds to items in plain text. RSS 0.9x, 1.0 (RDF) and 2.0, Atom, JSON Feed. */
import { createHash } from 'node:crypto';
import type { AtomFeed, JsonFeed, parseFeed, RdfFeed, RssFeed } from 'feedsmith';
import type { RssFeed as WireFeed } from '../contract/playlist.ts';
import { parseUrl } from '../contract/url.ts';
import { type NetworkScope, scopeOf } from '../domain/network-scope.ts';
import { plainText } from './text.ts';

export type FeedItem = WireFeed['items'][number];
export type ParsedFeed = ReturnType<typeof parseFeed>;

export const MAX_ITEMS = 50;
const MAX_TITLE = 300;
const MAX_SUMMARY = 1000;
const MAX_URL = 2048;
const MAX_ID = 256;

/** The parts of an item, independent of the format. Texts may be HTML, URLs may be relative. */
interface Draft {
  id: string | undefined;
  title: string | undefined;
  link: string | undefined;
  summary: string | undefined;
  html: string | undefined;
  images: (string | undefined)[];
  published: string | undefined;
  base?: string | undefined;
}

type Media = NonNullable<RssFeed.Item<string>['media']>;

/** The pictures of Media RSS, the widest first. */
const mediaImages = (media: Media | undefined): (string | undefined)[] => {
  const parts = [media, ...(media?.groups ?? []), ...(media?.contents ?? [])];
  const contents = [...(media?.contents ?? []), ...(media?.groups ?? []).flatMap((group) => group.contents ?? [])]
    .filter(({ medium, type, url }) => medium === 'image' || (type ?? imageType(url))?.startsWith('image/'))
    .toSorted((one, other) => (other.width ?? 0) - (one.width ?? 0));
  const thumbnails = parts
    .flatMap((part) => part?.thumbnails ?? [])
    .toSorted((one, other) => (other.width ?? 0) - (one.width ?? 0));
  return [...contents, ...thumbnails].map(({ url }) => url);
};

const imageType = (url: string | undefined): string | undefined =>
  /\.(jpe?g|png|webp|gif|avif)(\?|$)/i.test(url ?? '') ? 'image/*' : undefined;

const ofRss = (item: RssFeed.Item<string>): Draft => ({
  id: item.guid?.value,
  title: item.title ?? item.dc?.titles?.[0] ?? item.media?.title?.value,
  link: item.link ?? (item.guid?.isPermaLink === false ? undefined : item.guid?.value),
  summary: item.description ?? item.content?.encoded ?? item.itunes?.summary,
  html: `${item.content?.encoded?.slice(0, 20_000) ?? ''} ${item.description?.slice(0, 20_000) ?? ''}`,
  images: [
    ...mediaImages(item.media),
    ...(item.enclosures ?? [])
      .filter(({ type, url }) => (type ?? imageType(url))?.startsWith('image/'))
      .map(({ url }) => url),
    item.itunes?.image,
  ],
  published: item.pubDate ?? item.dc?.dates?.[0],
});

const ofRdf = (item: RdfFeed.Item<string>): Draft => ({
  id: item.rdf?.about ?? item.link,
  title: item.title,
  link: item.link,
  summary: item.description ?? item.content?.encoded,
  html: (item.content?.encoded ?? item.description)?.slice(0, 20_000),
  images: mediaImages(item.media),
  published: item.dc?.dates?.[0],
});

const ofAtom = (entry: AtomFeed.Entry<string>): Draft => {
  const links = entry.links ?? [];
  return {
    id: entry.id,
    title: entry.title?.value,
    link: (links.find(({ rel }) => rel === undefined || rel === 'alternate') ?? links[0])?.href,
    summary: entry.summary?.value ?? entry.content?.value ?? entry.media?.groups?.[0]?.description?.value,
    html: (entry.content?.value ?? entry.summary?.value)?.slice(0, 20_000),
    images: [
      ...mediaImages(entry.media),
      ...links.filter(({ rel, type }) => rel === 'enclosure' && type?.startsWith('image/')).map(({ href }) => href),
    ],
    published: entry.published ?? entry.updated,
    base: entry.xml?.base,
  };
};

const ofJson = (item: JsonFeed.Item<string>): Draft => ({
  id: item.id,
  title: item.title,
  link: item.url ?? item.external_url,
  summary: item.summary ?? item.content_text ?? item.content_html,
  html: item.content_html?.slice(0, 20_000),
  images: [item.image, item.banner_image],
  published: item.date_published ?? item.date_modified,
});

const draftsOf = ({ format, feed }: ParsedFeed): Draft[] => {
  if (format === 'atom') return (feed.entries ?? []).map((entry) => ofAtom(entry as AtomFeed.Entry<string>));
  if (format === 'rdf') return (feed.items ?? []).map((item) => ofRdf(item as RdfFeed.Item<string>));
  if (format === 'json') return (feed.items ?? []).map((item) => ofJson(item as JsonFeed.Item<string>));
  return (feed.items ?? []).map((item) => ofRss(item as RssFeed.Item<string>));
};

/** The title of a feed in plain text; null: none. */
export const titleOf = ({ format, feed }: ParsedFeed): string | null =>
  plainText(format === 'atom' ? feed.title?.value : feed.title, MAX_TITLE);

const webAddress = (address: string | undefined, base: string): string | null => {
  const trimmed = address?.trim() ?? '';
  const url = trimmed === '' || trimmed.length > MAX_URL ? null : parseUrl(trimmed, base);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.href.length <= MAX_URL
    ? url.href
    : null;
};

/**
 * Drops pictures whose URL is in a nearer network than the feed: a page that can't reach the box would load the URL
 * itself, so a feed of the Internet could make pages send requests to the local network.
 */
const pictureAddress = (address: string | undefined, base: string, nearness: NetworkScope): string | null => {
  const url = webAddress(address, base);
  return url !== null && scopeOf(new URL(url)) > nearness ? null : url;
};

/** `<img>` tags. An unclosed one extends to the end of the text, so that matching takes linear time. */
const PICTURE = /<img\s[^>]*(?:>|$)/gi;

/** The first picture in a text that is not a tracking pixel. */
const pictureIn = (html: string | undefined): string | undefined => {
  for (const [tag] of html?.matchAll(PICTURE) ?? []) {
    if (/\s(?:width|height)\s*=\s*["']?[01]["'\s/>]/i.test(tag)) continue;
    const source = /\ssrc\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(tag);
    const url = source?.[1] ?? source?.[2];
    if (url !== undefined) return url.replaceAll('&amp;', '&');
  }
  return undefined;
};

const instant = (date: string | undefined): string | null => {
  const time = Date.parse(date ?? '');
  // Feeds use years such as 0001 for an unknown date.
  return time > 0 && time < Date.UTC(2200) ? new Date(time).toISOString() : null;
};

const idOf = (draft: Draft, title: string | null, link: string | null): string => {
  const own = draft.id?.trim();
  if (own && own.length <= MAX_ID) return own;
  return createHash('sha256')
    .update(own || JSON.stringify([title, link, draft.published]))
    .digest('base64url');
};

const toItem = (draft: Draft, feedBase: string, nearness: NetworkScope): FeedItem => {
  const base = webAddress(draft.base, feedBase) ?? feedBase;
  const title = plainText(draft.title, MAX_TITLE);
  const link = webAddress(draft.link, base);
  const image = [...draft.images, pictureIn(draft.html)]
    .map((url) => pictureAddress(url, base, nearness))
    .find((url) => url !== null);
  return {
    id: idOf(draft, title, link),
    title,
    link,
    summary: plainText(draft.summary, MAX_SUMMARY),
    image_url: image ?? null,
    published_at: instant(draft.published),
  };
};

/**
 * The items of a feed that have a title or a summary, in feed order, without duplicates, at most {@link MAX_ITEMS}.
 * @param nearness network scope of the feed
 */
export const itemsOf = (feed: ParsedFeed, feedUrl: string, nearness: NetworkScope): FeedItem[] => {
  const base = feed.format === 'atom' ? webAddress(feed.feed.xml?.base, feedUrl) : null;
  const items = new Map<string, FeedItem>();
  for (const draft of draftsOf(feed)) {
    const item = toItem(draft, base ?? feedUrl, nearness);
    if (items.size < MAX_ITEMS && !items.has(item.id) && (item.title ?? item.summary) !== null)
      items.set(item.id, item);
  }
  return [...items.values()];
};
