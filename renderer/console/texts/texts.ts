/** What the console says. A language is one file in this folder, `en.ts` and `de.ts`. */
import type { DisplayState } from '../model/displays.ts';
import type { Group } from '../model/filter.ts';
import type { Level } from '../model/wire.ts';

export interface Texts {
  /** BCP 47 tag of the language. */
  tag: string;
  close: string;
  cancel: string;
  retry: string;
  loading: string;
  skip: string;
  navigation: string;
  nav: { screens: string; content: string; media: string; takeovers: string; boxes: string };

  noSecretTitle: string;
  noSecretTask: string;
  degraded: string;
  contentInvalid: string;
  clockOff(isAhead: boolean, difference: string): string;
  away: string;
  awaySince(time: string): string;

  signIn: {
    title: string;
    again: string;
    task: string;
    secret: string;
    name: string;
    nameHint: string;
    submit: string;
    checking: string;
    missing: string;
    wrong: string;
    out: string;
  };

  errors: {
    unreachable: string;
    tooMany(seconds: number | null): string;
    full: string;
    storage: string;
    fault: string;
  };

  state(state: DisplayState, at: { since: string | null; until: string | null; page: string | null }): string;
  noDisplay: string;

  wall: {
    title: string;
    summary(screens: number, displays: number): string;
    filter: string;
    search: string;
    allTags: string;
    tag: string;
    all: string;
    group: Record<Group, string>;
    groups: string;
    none: string;
    clear: string;
    empty: string;
    emptyTask: string;
    emptyLink: string;
    noDisplayTask: string;
    displays(count: number): string;
    more(count: number): string;
  };

  picture: {
    photo(time: string): string;
    slide: string;
    ofDisplay(name: string): string;
    black: string;
    nothing: string;
  };
  unnamed: string;
  level: Record<Level, string>;
}
