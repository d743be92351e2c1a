/** What the console says. A language is one file in this folder, `en.ts` and `de.ts`. */

import type { Command } from '../../../service/contract/commands.ts';
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

  screenPage: { gone: string; back: string; edit: string; open: string };
  commands: {
    /** Null: to all displays. */
    title(display: string | null, count: number): string;
    name: Record<Command['command'], string>;
    resume: string;
    light: string;
    sent(count: number): string;
    degraded: string;
    notConnected: string;
    address: string;
    addressHint: string;
    badAddress: string;
    send: string;
    newName: string;
    badName: string;
    rename: string;
  };
  device: {
    title: string;
    all(count: number): string;
    unbound: string;
    since(time: string): string;
    move: string;
    moveTo: string;
    moved(screen: string): string;
    movedLater(screen: string): string;
    forget: string;
    forgetTitle(name: string): string;
    forgetTask: string;
    forgotten: string;
  };
  plan: {
    title: string;
    at: string;
    now: string;
    next: string;
    later(moment: string): string;
    closed(until: string): string;
    closedLong: string;
    nothing: string;
    changes(time: string): string;
    ownLength: string;
    zone(timeZone: string): string;
  };

  takeover: {
    title: string;
    about: string;
    open: string;
    level: string;
    levelHint: Record<Level, string>;
    headline: string;
    text: string;
    picture: string;
    placeholder: string;
    where: string;
    everywhere: string;
    some: string;
    withTag(tag: string): string;
    howLong: string;
    chosenTime: string;
    untilLabel(timeZone: string): string;
    show(displays: number): string;
    confirmTitle: string;
    confirm(reach: { screens: number; displays: number; until: string; isEmergency: boolean }): string;
    sent: string;
    missing: { title: string; targets: string; until: string };
    untilTime(time: string): string;
    span(from: string, until: string): string;
    shownOn(shown: number, expected: number): string;
    pictureAlone: string;
    end: string;
    callOff: string;
    ended: string;
  };

  mediaField: { choose: string; clear: string; search: string; none: string };
}
