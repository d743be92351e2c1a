import { mediaTypeOf } from '../media/types.ts';
import type { Nearness } from '../outbound/networks.ts';
import { addressOf, addressRest } from '../wire/markup.ts';
import type { PlaylistPayload, Slide } from '../wire/playlist.ts';

/** The kinds whose medium is a file. A page and a live stream are something else each time. */
const fileKinds: readonly Slide['kind'][] = ['image', 'video', 'pdf'];

/** Addresses inside markup and values. */
const ADDRESS = new RegExp(String.raw`\bhttps?://${addressRest}`, 'gi');

/** The address as everybody here writes it; null for what is not on the Web. A fragment is the page's affair. */
export const normalAddress = (address: string): string | null => {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  url.hash = '';
  return url.href;
};

const isFile = (address: string): boolean => /^(?:image|video)\/|\/pdf$/.test(mediaTypeOf(address) ?? '');

/** In a text only the extension tells a medium from a link. */
const namedIn = (text: string): string[] => (text.match(ADDRESS) ?? []).map(addressOf).filter(isFile);

const textsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
};

const namedBy = ({ kind, media_url, body, template, content }: Slide): string[] => [
  ...(fileKinds.includes(kind) && media_url !== null ? [media_url] : []),
  ...[body ?? '', template?.html ?? '', ...textsOf(content)].flatMap(namedIn),
];

/**
 * Every remote picture, video and PDF that screens show, each once, in the order in which it comes, and how near it may
 * be: what the operator names may be anywhere, what a feed names no nearer than the feed.
 */
export const remoteMedia = (
  payloads: readonly Partial<PlaylistPayload>[],
  reachOf: (feedId: string) => Nearness,
): Map<string, Nearness> => {
  const found = new Map<string, Nearness>();
  const add = (address: string, reach: Nearness): void => {
    const url = normalAddress(address);
    if (url !== null) found.set(url, Math.max(reach, found.get(url) ?? 0) as Nearness);
  };
  for (const { slides = [], rssFeeds = [] } of payloads) {
    for (const address of slides.flatMap(namedBy)) add(address, 2);
    for (const { id, items } of rssFeeds) for (const { image_url } of items) add(image_url ?? '', reachOf(id));
  }
  return found;
};
