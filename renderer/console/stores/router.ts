/** The page that the hash of the address names: `#/screens/lobby` is `['screens', 'lobby']`. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { Site } from '../model/wire.ts';

export type Router = ReturnType<typeof createRouter>;

export const hrefOf = (...path: string[]): string => `#/${path.map(encodeURIComponent).join('/')}`;

/**
 * The address of a screen for another machine. A box that is opened as localhost is known to others by the address that it
 * gives itself.
 */
export const screenAddress = (slug: string, overview: Pick<Site, 'boxes'> | null): string =>
  new URL(`/screen/${slug}`, overview?.boxes[0]?.url ?? location.origin).href;

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

export const parseHash = (hash: string): readonly string[] =>
  hash
    .replace(/^#\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map(decode);

export const createRouter = (page: Window) => {
  const path = signal(parseHash(page.location.hash));
  page.addEventListener('hashchange', () => {
    path.value = parseHash(page.location.hash);
  });
  return {
    path: path as ReadonlySignal<readonly string[]>,
    go: (...to: string[]): void => {
      page.location.hash = hrefOf(...to);
    },
  };
};
