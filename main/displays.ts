/** Which displays have a window, and which device each of them is: pure, since displays come and go. */
import type { KioskSettings } from './service-host.ts';

/** The fields of Electron's `Display` that are used. */
export interface Display {
  /** Stable across starts for the same panel on the same connector. */
  id: number;
  /** The system's name for it; may be empty. */
  label: string;
  bounds: { x: number; y: number; width: number; height: number };
}

/** The title of the window of a display, by which the compositor knows it. */
export const titleOf = ({ id }: Pick<Display, 'id'>): string => `Signage player ${id}`;

/** A display's place among the box's devices: 1 is the box itself. Kept for good, so that a display stays itself. */
export interface Slot {
  number: number;
  displayId: number;
}

export type Rotation = KioskSettings['rotation'];

/** A display with a window, and what it is to show. */
export interface Place {
  display: Display;
  /** Its number among all displays, from 1. */
  number: number;
  deviceId: string;
  /** The slug of a fixed screen; null: the screen that its device is bound to. */
  screen: string | null;
  /** Degrees clockwise. */
  rotation: Rotation;
  /** The storage of its pages: two devices must not share one. */
  partition: string;
}

/** Sorts left to right, then top to bottom. */
const byPosition = (a: Display, b: Display): number => a.bounds.x - b.bounds.x || a.bounds.y - b.bounds.y;

/**
 * Finds a slot for each display: its own, else the lowest whose display is gone, since a panel that was replaced plays
 * what the one before it did, else a new one.
 * @param displays the primary one first, which gets the first slot on the first start
 */
export const assignSlots = (slots: readonly Slot[], displays: readonly Display[]): Slot[] => {
  const present = new Set(displays.map(({ id }) => id));
  const kept = new Map(slots.map((slot) => [slot.number, slot]));
  const known = new Set(slots.map(({ displayId }) => displayId));
  for (const { id } of displays) {
    if (known.has(id)) continue;
    let number = 1;
    while (present.has(kept.get(number)?.displayId ?? Number.NaN)) number += 1;
    kept.set(number, { number, displayId: id });
  }
  return [...kept.values()].sort((a, b) => a.number - b.number);
};

interface Setting {
  displays: readonly Display[];
  primaryId: number;
  slots: readonly Slot[];
  settings: Pick<KioskSettings, 'displays' | 'rotation'>;
  /** The device id of the box. */
  boxId: string;
}

/** The displays that have a window. Where none of the chosen ones is there, it is the primary one: better than nothing. */
export const placesOf = ({ displays, primaryId, slots, settings, boxId }: Setting): Place[] => {
  const numbered = displays.toSorted(byPosition);
  const primary = displays.find(({ id }) => id === primaryId) ?? numbered[0];
  if (primary === undefined) return [];
  const { displays: chosen } = settings;
  type Choice = Partial<Exclude<typeof chosen, string>[number]>;

  const place = (display: Display, choice: Choice): Place => {
    const { number: slot } = slots.find(({ displayId }) => displayId === display.id) ?? { number: 1 };
    return {
      display,
      number: numbered.indexOf(display) + 1,
      deviceId: choice.deviceId ?? (slot === 1 ? boxId : `${boxId}.${slot}`),
      screen: choice.screen ?? null,
      rotation: choice.rotation ?? settings.rotation,
      partition: `persist:display-${slot}`,
    };
  };

  if (chosen === 'all') return numbered.map((display) => place(display, {}));
  if (chosen === 'primary') return [place(primary, {})];
  const places = chosen.flatMap((choice) => {
    const display =
      typeof choice.display === 'number'
        ? numbered[choice.display - 1]
        : numbered.find(({ label }) => label === choice.display);
    return display === undefined ? [] : [place(display, choice)];
  });
  const once = places.filter(({ display }, index) => places.findIndex((other) => other.display === display) === index);
  return once.length > 0 ? once : [place(primary, chosen[0] ?? {})];
};
