/** Decides which media a box fetches, and from which peers. Pure. */
import type { PeerMedium } from '../contract/peers.ts';

/** The media that a peer lists. */
export interface Offer {
  /** Base URL. */
  url: string;
  /** Its file of that name, if it counts. */
  find(name: string): PeerMedium | undefined;
}

export interface Transfer {
  medium: PeerMedium;
  /** Base URLs of all peers that have exactly this file. */
  from: string[];
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Positive if `a` is the newer file of a name. Copies keep the modification time of their original, so that no copy
 * counts as newer.
 */
export const compareMedia = (a: PeerMedium, b: PeerMedium): number =>
  order(a.modifiedAt, b.modifiedAt) || order(a.sha256, b.sha256);

/** The newest file of a name at the site; undefined without one. */
const newestOf = (name: string, own: ReadonlyMap<string, PeerMedium>, offers: readonly Offer[]) => {
  let newest = own.get(name);
  for (const offer of offers) {
    const theirs = offer.find(name);
    if (theirs !== undefined && (newest === undefined || compareMedia(theirs, newest) > 0)) newest = theirs;
  }
  return newest;
};

/** The transfers after which every name stands for the newest file of the site on this box. */
export const planTransfers = (
  named: Iterable<string>,
  own: ReadonlyMap<string, PeerMedium>,
  offers: readonly Offer[],
): Transfer[] =>
  [...named].flatMap((name) => {
    const newest = newestOf(name, own, offers);
    if (newest === undefined || own.get(name)?.sha256 === newest.sha256) return [];
    const from = offers.filter(({ find }) => find(name)?.sha256 === newest.sha256).map(({ url }) => url);
    return [{ medium: newest, from }];
  });

/** Modification time of the newest file of a name at the site; undefined without one. */
export const newestTime = (name: string, own: ReadonlyMap<string, PeerMedium>, offers: readonly Offer[]) =>
  newestOf(name, own, offers)?.modifiedAt;
