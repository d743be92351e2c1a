import type { PlaylistPayload, Slide } from '../../contract/playlist.ts';
import { addressOf, addressRest } from '../../domain/markup.ts';
import { mediaTypeOf } from '../../domain/media-types.ts';
import type { Nearness } from '../../domain/network-scope.ts';

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

const originOf = (address = ''): string | null => (URL.canParse(address) ? new URL(address).origin : null);

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

/** Of the data of one API source. */
const MOST_OF_A_SOURCE = 100;

/** What is allowed of an address that screens show. */
export interface Named {
  /** How near it may be: what the operator names may be anywhere, what a feed names no nearer than the feed. */
  reach: Nearness;
  /** A feed in here names what is at its own origin, where the operator sends us anyway. */
  isOwn: boolean;
}

/** Every remote picture, video and PDF that screens show, each once, in the order in which it comes. */
export const remoteMedia = (
  payloads: readonly Partial<PlaylistPayload>[],
  reachOf: (kind: 'rss' | 'api', id: string) => Nearness,
): Map<string, Named> => {
  const found = new Map<string, Named>();
  const add = (address: string, reach: Nearness, feedUrl?: string): void => {
    const url = normalAddress(address);
    if (url === null) return;
    const before = found.get(url);
    const isOwn = reach > 0 && originOf(feedUrl) === originOf(url);
    found.set(url, {
      reach: Math.max(reach, before?.reach ?? 0) as Nearness,
      isOwn: isOwn || before?.isOwn === true,
    });
  };
  for (const { slides = [], rssFeeds = [], apiSources = [] } of payloads) {
    for (const address of slides.flatMap(namedBy)) add(address, 2);
    for (const { id, url, items } of rssFeeds)
      for (const { image_url } of items) add(image_url ?? '', reachOf('rss', id), url);
    if (!slides.some(({ template }) => template?.html.includes('sources'))) continue;
    for (const { id, url, data } of apiSources)
      for (const address of textsOf(data).flatMap(namedIn).slice(0, MOST_OF_A_SOURCE))
        add(address, reachOf('api', id), url);
  }
  return found;
};
