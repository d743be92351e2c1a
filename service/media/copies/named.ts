import type { PlaylistPayload, Slide } from '../../contract/playlist.ts';
import { fileKinds } from '../../contract/slide-values.ts';
import { parseUrl } from '../../contract/url.ts';
import { addressOf, addressRest, textsOf } from '../../domain/markup.ts';
import { remoteAddress, withoutCredentials } from '../../domain/media-names.ts';
import { isShown, mediaTypeOf } from '../../domain/media-types.ts';
import type { NetworkScope } from '../../domain/network-scope.ts';

/** Matches addresses inside markup and values. */
const ADDRESS = new RegExp(String.raw`\bhttps?://${addressRest}`, 'gi');

export const hasCredentials = (url: string): boolean => withoutCredentials(url) !== url;

const originOf = (address = ''): string | null => parseUrl(address)?.origin ?? null;

const isFile = (address: string): boolean => isShown(mediaTypeOf(address) ?? '');

/** The media addresses in a text, where only the file extension distinguishes media from links. */
// Most texts name nothing, which a search for a fixed string finds much faster.
const namedIn = (text: string): string[] =>
  text.includes('://') ? (text.match(ADDRESS) ?? []).map(addressOf).filter(isFile) : [];

const namedBy = ({ kind, media_url, body, template, content }: Slide): string[] => [
  ...(fileKinds.includes(kind) && media_url !== null ? [media_url] : []),
  ...[body ?? '', template?.html ?? '', ...textsOf(content)].flatMap(namedIn),
];

/** The maximum number of addresses taken from the data of one API source. */
const MAX_PER_SOURCE = 100;

/** The network permissions of an address that screens show. */
export interface Named {
  /** The nearest network it may be in: any if the operator names it; no nearer than the feed if a feed names it. */
  reach: NetworkScope;
  /** A feed of the LAN names it and has the same origin, which the operator has allowed by configuring the feed. */
  isOwn: boolean;
}

/** All remote pictures, videos and PDFs that screens show, without duplicates, in order of appearance. */
export const remoteMedia = (
  payloads: readonly Partial<Pick<PlaylistPayload, 'slides' | 'rssFeeds' | 'apiSources' | 'style'>>[],
  reachOf: (kind: 'rss' | 'api', id: string) => NetworkScope,
): Map<string, Named> => {
  const found = new Map<string, Named>();
  const add = (address: string, reach: NetworkScope, feedUrl?: string): void => {
    const url = remoteAddress(address);
    if (url === null) return;
    const before = found.get(url);
    const isOwn = reach > 0 && originOf(feedUrl) === originOf(url);
    found.set(url, {
      reach: Math.max(reach, before?.reach ?? 0) as NetworkScope,
      isOwn: isOwn || before?.isOwn === true,
    });
  };
  for (const { slides = [], rssFeeds = [], apiSources = [], style } of payloads) {
    add(style?.logo_url ?? '', 2);
    for (const address of slides.flatMap(namedBy)) add(address, 2);
    for (const { id, url, items } of rssFeeds)
      for (const { image_url } of items) add(image_url ?? '', reachOf('rss', id), url);
    if (!slides.some(({ template }) => template?.html.includes('sources'))) continue;
    for (const { id, url, data } of apiSources)
      for (const address of textsOf(data).flatMap(namedIn).slice(0, MAX_PER_SOURCE))
        add(address, reachOf('api', id), url);
  }
  return found;
};
