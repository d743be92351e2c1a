/** The system of an image: which of its slots runs, and what became of the other. */
import { readFileSync } from 'node:fs';
import type { KioskHealth } from '../service/public.ts';

export type System = NonNullable<KioskHealth['system']>;

/**
 * Reads what root writes at each start of the player, and after an installation (`boot-state report`).
 * @param path absent: this machine was not made from an image
 * @returns null if there is nothing to read
 */
export const readSystem = (path: string | null): System | null => {
  if (path === null) return null;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as System;
  } catch {
    return null;
  }
};
