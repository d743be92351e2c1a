/** Black over every display, whatever their windows show: for displays that can't be switched off. */
import { BrowserWindow } from 'electron';
import type { Display } from '../displays.ts';
import { lockedPreferences } from '../preferences.ts';

interface Dependencies {
  /** The displays to cover, at the time. */
  displays(): readonly Pick<Display, 'bounds'>[];
  /** Whether somebody stands before the box, who is not to be covered. */
  isAttended(): boolean;
}

export interface Cover {
  /** Covers the displays, as they are now, or uncovers them. To be told again and again: what could not be, may be now. */
  set(on: boolean): void;
  /** A window came to the front, or the displays are others: where they are covered, they are so anew. */
  renew(): void;
}

export const createCover = ({ displays, isAttended }: Dependencies): Cover => {
  let isOn = false;
  let windows: BrowserWindow[] = [];
  /** The bounds that they have; null: they are not in front, or not where they belong. */
  let covered: string | null = '[]';

  const open = ({ bounds }: Pick<Display, 'bounds'>): BrowserWindow =>
    new BrowserWindow({
      ...bounds,
      kiosk: true,
      fullscreen: true,
      frame: false,
      focusable: false,
      backgroundColor: '#000000',
      title: 'Signage player, closed',
      webPreferences: lockedPreferences,
    });

  const set = (on: boolean): void => {
    isOn = on;
    if (on && isAttended()) return;
    const wanted = on ? displays() : [];
    const bounds = JSON.stringify(wanted.map((display) => display.bounds));
    if (bounds === covered) return;
    // Made anew, since Wayland has no other way to the front. Not always on top: the maintenance page opens above it.
    const before = windows;
    windows = wanted.map(open);
    covered = bounds;
    for (const window of before) window.destroy();
  };

  return {
    set,
    renew: () => {
      if (!isOn) return;
      covered = null;
      set(true);
    },
  };
};
