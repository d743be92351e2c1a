/** Black over every display, whatever their windows show: for displays that can't be switched off. */
import { BrowserWindow } from 'electron';
import type { Display } from '../displays.ts';
import { lockedPreferences } from '../preferences.ts';

/** @param displaysOf the displays to cover, at the time */
export const createCover = (displaysOf: () => readonly Pick<Display, 'bounds'>[]): ((on: boolean) => void) => {
  let windows: BrowserWindow[] = [];
  return (on) => {
    for (const window of windows) window.destroy();
    // Not always on top: the maintenance page opens above it.
    windows = (on ? displaysOf() : []).map(
      ({ bounds }) =>
        new BrowserWindow({
          ...bounds,
          kiosk: true,
          fullscreen: true,
          frame: false,
          focusable: false,
          backgroundColor: '#000000',
          title: 'Signage player, closed',
          webPreferences: lockedPreferences,
        }),
    );
  };
};
