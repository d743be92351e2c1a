/** What the root of an image tells the player: which of its systems runs, and what is wrong with its network. */
import { readFileSync } from 'node:fs';
import type { KioskHealth } from '../service/public.ts';

/** @returns what a file of root's says; null: there is none */
const readTold = <Told>(path: string | null): Told | null => {
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
