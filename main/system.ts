/** What the root of an image tells the player: which of its systems runs, its network and its own Wi-Fi. */
import { readFileSync, statSync } from 'node:fs';
import type { KioskHealth } from '../service/public.ts';
import type { Paths } from './paths.ts';

/** @returns what a file of root's says; null: there is none */
export const readTold = <Told>(path: string | null): Told | null => {
  if (path === null) return null;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Told;
  } catch {
    return null;
  }
};

/**
 * Reads what `boot-state report` writes at each start of the player, and after an installation.
 * @param path null: this machine was not made from an image
 */
export const readSystem = (path: string | null) => readTold<NonNullable<KioskHealth['system']>>(path);

/** Reads why `network` could not do what `kiosk.network` says. @param path null: this machine was not made from an image */
export const readNetwork = (path: string | null) => readTold<NonNullable<KioskHealth['network']>>(path);

/** Tells what root says from what it said before, even in the same words; null: it says nothing. */
export const stampOf = (path: string | null): string | null => {
  const found = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.ino} ${found.mtimeMs}`;
};

/** What both say, for /healthz. */
export const readImage = (paths: Pick<Paths, 'system' | 'network'>) => ({
  system: readSystem(paths.system),
  network: readNetwork(paths.network),
});
