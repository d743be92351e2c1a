/** Which screens the wall shows; pure. */
import { perObject } from '../../../service/domain/collections.ts';
import { type DisplayState, displaysOf, stateOfScreen } from './displays.ts';
import type { SiteScreen } from './wire.ts';

/** Whether one of the texts contains the query, ignoring case; pure. */
export const matches = (text: string, ...texts: readonly string[]): boolean => {
  const wanted = text.trim().toLowerCase();
  return wanted === '' || texts.some((each) => each.toLowerCase().includes(wanted));
};

/** The groups that users filter by: a screen is in each to which one of its displays belongs. */
export const groups = [
  'attention',
  'playing',
  'takeover',
  'black',
  'paused',
  'redirected',
  'idle',
  'closed',
  'empty',
] as const;
export type Group = (typeof groups)[number];

export interface Filter {
  text: string;
  tag: string | null;
  group: Group | null;
}

export const noFilter: Omit<Filter, 'text'> = { tag: null, group: null };

const groupsOf = (state: DisplayState): readonly Group[] => {
  if (state === 'away' || state === 'stuck') return ['attention'];
  if (state === 'never') return ['empty'];
  return state === 'black' ? ['attention', 'black'] : [state];
};

/** Only a screen all of whose displays play is among those that play. */
export const groupsOfScreen = perObject((screen: SiteScreen): readonly Group[] => {
  const displays = displaysOf(screen);
  const state = stateOfScreen(displays);
  if (state === null) return ['empty'];
  const all = new Set(displays.flatMap((display) => groupsOf(display.state)));
  if (state !== 'playing') all.delete('playing');
  return [...all];
});

const matchesText = ({ screen, devices, tags }: SiteScreen, text: string): boolean =>
  matches(text, screen.name, screen.slug, ...tags, ...devices.map(({ clientName }) => clientName ?? ''));

export const tagsOf = (screens: readonly SiteScreen[]): string[] =>
  [...new Set(screens.flatMap(({ tags }) => tags))].toSorted();

export const applyFilter = (screens: readonly SiteScreen[], { text, tag, group }: Filter): SiteScreen[] =>
  screens.filter(
    (screen) =>
      (tag === null || screen.tags.includes(tag)) &&
      (group === null || groupsOfScreen(screen).includes(group)) &&
      matchesText(screen, text),
  );

export const countGroups = (screens: readonly SiteScreen[]): Record<Group, number> => {
  const counts = Object.fromEntries(groups.map((group) => [group, 0])) as Record<Group, number>;
  for (const screen of screens) for (const group of groupsOfScreen(screen)) counts[group] += 1;
  return counts;
};
