/** Which media a box fetches from whom. Pure. */
import type { PeerMedium } from '../contract/peers.ts';

/** What a peer says that it has. */
export interface Offer {
  /** Base URL. */
  url: string;
  media: ReadonlyMap<string, PeerMedium>;
}

export interface Want {
  medium: PeerMedium;
  /** Base URLs of all that have exactly this. */
  from: string[];
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Above 0 where `a` is what a name stands for: the newer file. Copies keep the time of what they are copies of, so that
 * no copy passes for news.
 */
export const compareMedia = (a: PeerMedium, b: PeerMedium): number =>
  order(a.modifiedAt, b.modifiedAt) || order(a.sha256, b.sha256);

/** The newest of a name, here or there; undefined where nobody has any. */
const newestOf = (name: string, own: ReadonlyMap<string, PeerMedium>, offers: readonly Offer[]) =>
  [own, ...offers.map(({ media }) => media)]
    .flatMap((media) => media.get(name) ?? [])
    .toSorted((a, b) => compareMedia(b, a))[0];

/** What is to be fetched so that every name stands here for what it stands for at the site. */
export const wantsOf = (
  named: Iterable<string>,
  own: ReadonlyMap<string, PeerMedium>,
  offers: readonly Offer[],
): Want[] =>
  [...named].flatMap((name) => {
    const newest = newestOf(name, own, offers);
    if (newest === undefined || own.get(name)?.sha256 === newest.sha256) return [];
    const from = offers.filter(({ media }) => media.get(name)?.sha256 === newest.sha256).map(({ url }) => url);
    return [{ medium: newest, from }];
  });

/** The time of the newest file that a name stands for anywhere; undefined where there is none. */
export const timeOf = (name: string, own: ReadonlyMap<string, PeerMedium>, offers: readonly Offer[]) =>
  newestOf(name, own, offers)?.modifiedAt;
