/** Decides which displays get a window and which device each of them is. Pure. */
import type { KioskSettings, Options } from '../../service/public.ts';

/** The fields of Electron's `Display` that are used. */
export interface Display {
  /** Stable while the display is connected. Under Wayland a number that the compositor counts up, on X11 and Windows lasting. */
  id: number;
  /** The name that the system reports; may be empty. Under sway it has the connector in it, such as `(HDMI-A-1)`. */
  label: string;
  /** Position and size in device-independent pixels. */
  bounds: { x: number; y: number; width: number; height: number };
}

/** The window title of a display, by which the compositor identifies the window. */
export const titleOf = ({ id }: Pick<Display, 'id'>): string => `Signage player ${id}`;

/** What people and /healthz call a display. */
export const nameOf = ({ id, label }: Pick<Display, 'id' | 'label'>): string => label || `Display ${id}`;

/** The number of a display among the devices of the box. Stored, so that a display keeps its device id. */
export interface Slot {
  number: number;
  /** {@link NO_DISPLAY} where another display has its ID now. */
  displayId: number;
  /** Of its display; empty: it has none. */
  label: string;
}

/** Chromium's ID of no display. */
export const NO_DISPLAY = -1;

export type Rotation = KioskSettings['rotation'];

/** A display that gets a window, and what the window shows. */
export interface DisplayAssignment {
  display: Display;
  /** The number of its {@link Slot}. */
  slot: number;
  /** The number of the display from left to right, then top to bottom, from 1. */
  number: number;
  deviceId: string;
  /** The slug that config.json sets; null: the screen that the device is bound to. */
  screen: string | null;
  /** Degrees clockwise. */
  rotation: Rotation;
  /** The storage partition of its pages: two devices must not share one. */
  partition: string;
}

/** What identifies a display, and its screen, across starts. */
export type DisplayIdentity = Pick<DisplayAssignment, 'deviceId' | 'screen'>;

const byPosition = (a: Display, b: Display): number => a.bounds.x - b.bounds.x || a.bounds.y - b.bounds.y;

/** A size or position that no window can have: some panels report such values while they wake up. */
const isUsable = ({ bounds: { x, y, width, height } }: Display): boolean =>
  [x, y, width, height].every(Number.isInteger) && width > 0 && height > 0;

/** The displays that can have a window. */
export const usableDisplays = (displays: readonly Display[]): Display[] => displays.filter(isUsable);

/** The only one of these with a label; undefined: none, or several, as with panels of one make. */
const onlyWith = <Labelled extends { label: string }>(
  all: readonly Labelled[],
  label: string,
): Labelled | undefined => {
  const [first, ...others] = label === '' ? [] : all.filter((each) => each.label === label);
  return others.length === 0 ? first : undefined;
};

/**
 * Assigns each display a slot: its own, else the lowest one whose display is absent, so that a replaced panel shows what
 * its predecessor did, else a new one. Its own is the one with its label, if that is unique: a display that wakes up
 * late may find its ID taken.
 * @param displays the primary display first; it gets slot 1 on the first start
 */
export const assignSlots = (slots: readonly Slot[], displays: readonly Display[]): Slot[] => {
  const owners = new Map<number, Display>();
  const assign = (findSlot: (display: Display) => number | undefined): void => {
    const assigned = new Set(owners.values());
    for (const display of displays) {
      const number = assigned.has(display) ? undefined : findSlot(display);
      if (number !== undefined && !owners.has(number)) owners.set(number, display);
    }
  };
  assign(({ label }) => onlyWith(displays, label) && onlyWith(slots, label)?.number);
  assign(({ id, label }) => {
    const slot = slots.find(({ displayId }) => displayId === id);
    // The slot is known by its unique label, and this display has another label.
    const isOther = slot !== undefined && label !== slot.label && onlyWith(slots, slot.label) === slot;
    return isOther && label !== '' ? undefined : slot?.number;
  });
  assign(() => {
    let number = 1;
    while (owners.has(number)) number += 1;
    return number;
  });

  const present = new Set(displays.map(({ id }) => id));
  const absent = slots
    .filter(({ number }) => !owners.has(number))
    .map((slot) => (present.has(slot.displayId) ? { ...slot, displayId: NO_DISPLAY } : slot));
  const taken = [...owners].map(([number, { id, label }]) => ({ number, displayId: id, label }));
  return [...absent, ...taken].toSorted((a, b) => a.number - b.number);
};

/**
 * The screen of displays that are bound to none, in the baseline variant, which has no landing page: for as long as it
 * exists the same one, else the first. Null: there is none.
 */
export const screenOfUnbound = (
  before: string | null,
  { variant, screens }: { variant: Options['variant']; screens: readonly { slug: string }[] },
): string | null => {
  if (variant !== 'baseline') return null;
  return (screens.find(({ slug }) => slug === before) ?? screens[0])?.slug ?? null;
};

interface AssignmentInput {
  displays: readonly Display[];
  primaryId: number;
  slots: readonly Slot[];
  settings: Pick<KioskSettings, 'displays' | 'rotation'>;
  /** The device id of the display in a slot. */
  idOf(slot: number): string;
}

/** The displays that get a window. Without a connected display among those configured, the primary display gets one. */
export const assignDisplays = ({
  displays,
  primaryId,
  slots,
  settings,
  idOf,
}: AssignmentInput): DisplayAssignment[] => {
  const numbered = displays.toSorted(byPosition);
  const primary = displays.find(({ id }) => id === primaryId) ?? numbered[0];
  if (primary === undefined) return [];
  const { displays: chosen } = settings;
  type Choice = Partial<Exclude<typeof chosen, string>[number]>;

  const assign = (display: Display, choice: Choice): DisplayAssignment => {
    const { number: slot } = slots.find(({ displayId }) => displayId === display.id) ?? { number: 1 };
    return {
      display,
      slot,
      number: numbered.indexOf(display) + 1,
      deviceId: choice.deviceId ?? idOf(slot),
      screen: choice.screen ?? null,
      rotation: choice.rotation ?? settings.rotation,
      partition: `persist:display-${slot}`,
    };
  };

  if (chosen === 'all') return numbered.map((display) => assign(display, {}));
  if (chosen === 'primary') return [assign(primary, {})];
  const assignments = chosen.flatMap((choice) => {
    const display =
      typeof choice.display === 'number'
        ? numbered[choice.display - 1]
        : numbered.find(({ label }) => label === choice.display);
    return display === undefined ? [] : [assign(display, choice)];
  });
  const once = assignments.filter(
    ({ display }, index) => assignments.findIndex((other) => other.display === display) === index,
  );
  return once.length > 0 ? once : [assign(primary, chosen[0] ?? {})];
};

/**
 * The settings that change if one display is rotated. With a single display the rotation of all displays changes, so that
 * a replaced panel is rotated too; several displays are listed from then on.
 */
export const withRotation = (
  settings: Pick<KioskSettings, 'displays'>,
  assignments: readonly DisplayAssignment[],
  displayId: number,
  rotation: Rotation,
): Partial<KioskSettings> => {
  const { displays } = settings;
  if (typeof displays === 'string' && assignments.length === 1) return { rotation };
  const labels = assignments.map(({ display }) => display.label);
  const hasUniqueLabels = labels.every((label, index) => label !== '' && labels.indexOf(label) === index);
  const listed =
    typeof displays === 'string'
      ? assignments.map(({ display, number, rotation }) => ({
          display: hasUniqueLabels ? display.label : number,
          rotation,
        }))
      : displays;
  const rotated = assignments.find(({ display }) => display.id === displayId);
  return {
    displays: listed.map((choice) =>
      choice.display === rotated?.display.label || choice.display === rotated?.number
        ? { ...choice, rotation }
        : choice,
    ),
  };
};
