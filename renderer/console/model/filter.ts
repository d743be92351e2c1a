/** Which screens the wall shows; pure. */
import { type DisplayState, displaysOf, stateOfScreen } from './displays.ts';
import type { SiteScreen } from './wire.ts';

/** Whether one of the texts contains the query, ignoring case; pure. */
export const matches = (text: string, ...texts: readonly string[]): boolean => {
  const wanted = text.trim().toLowerCase();
  return wanted === '' || texts.some((each) => each.toLowerCase().includes(wanted));
};

/** The groups of states that users filter by. */
export const groups = ['attention', 'playing', 'closed', 'empty'] as const;
export type Group = (typeof groups)[number];

export interface Filter {
  text: string;
  /** Null: any. */
  tag: string | null;
  group: Group | null;
}

export const noFilter: Omit<Filter, 'text'> = { tag: null, group: null };

export const groupOf = (state: DisplayState | null): Group => {
  if (state === null) return 'empty';
  if (state === 'away' || state === 'stuck' || state === 'never') return 'attention';
  return state === 'closed' ? 'closed' : 'playing';
};

export const groupOfScreen = (screen: SiteScreen): Group => groupOf(stateOfScreen(displaysOf(screen)));

const matchesText = ({ screen, devices, tags }: SiteScreen, text: string): boolean =>
  matches(text, screen.name, screen.slug, ...tags, ...devices.map(({ clientName }) => clientName ?? ''));

export const tagsOf = (screens: readonly SiteScreen[]): string[] =>
  [...new Set(screens.flatMap(({ tags }) => tags))].toSorted();

export const applyFilter = (screens: readonly SiteScreen[], { text, tag, group }: Filter): SiteScreen[] =>
  screens.filter(
    (screen) =>
      (tag === null || screen.tags.includes(tag)) &&
      (group === null || groupOfScreen(screen) === group) &&
      matchesText(screen, text),
  );

export const countGroups = (screens: readonly SiteScreen[]): Record<Group, number> => {
  const counts = { attention: 0, playing: 0, closed: 0, empty: 0 };
  for (const screen of screens) counts[groupOfScreen(screen)] += 1;
  return counts;
};
