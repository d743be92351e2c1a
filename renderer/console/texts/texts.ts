/** What the console says. A language is one file in this folder, `en.ts` and `de.ts`. */

import type { Command } from '../../../service/contract/commands.ts';
import type { DisplayState } from '../model/displays.ts';
import type { GapReason } from '../model/figures.ts';
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
  nav: Record<'screens' | 'content' | 'media' | 'takeovers' | 'plays' | 'boxes', string>;

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
    preview: string;
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

  contentPage: {
    title: string;
    tab: Record<'playlists' | 'screens' | 'sources' | 'versions' | 'json', string>;
    narrow: string;
  };
  draft: {
    unpublished: string;
    published: string;
    errors(count: number): string;
    warnings(count: number): string;
    undo: string;
    redo: string;
    publish: string;
    merge: string;
  };
  editor: {
    slides: string;
    noSuchPlaylist: string;
    allPlaylists: string;
    playlistName: string;
    newPlaylist: string;
    create: string;
    showOn: string;
    later: string;
    noPlaylists: string;
    noPlaylistsTask: string;
    slideCount(count: number): string;
    shownOn(screens: string): string;
    unused: string;
    copyOf(name: string): string;
    duplicateOf(name: string): string;
    removeOf(name: string): string;
    removeTitle(name: string): string;
    removeUnused: string;
    removeUsed(screens: string): string;
    fade: string;
    sync: string;
    add: string;
    addTitle: string;
    duplicate: string;
    remove: string;
    moveBack: string;
    moveOn: string;
    moved(place: number, count: number): string;
    removed: string;
    noSlides: string;
    noSlidesTask: string;
    newText: string;
    hasErrors: string;
    hasWarnings: string;
    standardLength: string;
    look: string;
    rare: string;
    kind: Record<string, string>;
    kindAbout: Record<string, string>;
    noTemplates: string;
    noFeeds: string;
    noGroups: string;
  };
  fields: {
    label: Record<string, string>;
    hint: Record<string, string>;
    options: Record<string, string>;
    /** Check boxes that are on where nothing is said. */
    on: readonly string[];
    standard: string;
    none: string;
    pick: string;
    across: string;
    down: string;
  };
  schedule: {
    title: string;
    mode: Record<'always' | 'between' | 'weekly', string>;
    days: string;
    from: string;
    until: string;
    firstDay: string;
    lastDay: string;
  };
  week: {
    title: string;
    of(from: string, until: string): string;
    previous: string;
    current: string;
    next: string;
    span(from: string, until: string): string;
    open(screen: string): string;
    never: string;
    always(count: number): string;
    more(count: number): string;
  };
  hours: {
    always: string;
    title(count: number): string;
    opens: string;
    closes: string;
    date: string;
    closed: string;
    add: string;
    addDate: string;
    remove: string;
  };
  preview: {
    title: string;
    shape: string;
    landscape: string;
    portrait: string;
    whole: string;
    fault(reason: string): string;
  };
  publish: {
    title: string;
    what: string;
    where: string;
    nowhere: string;
    errors: string;
    warnings: string;
    goOn: string;
    submit: string;
    done: string;
    kept: string;
  };
  merge: {
    title: string;
    fits: string;
    conflicts(count: number): string;
    theirs: string;
    useMine: string;
    useTheirs: string;
    removed: string;
    dropMine: string;
    submit: string;
  };
  versions: {
    ofBox(name: string): string;
    none: string;
    unknown: string;
    on(box: string): string;
    current: string;
    of(time: string): string;
    changed: string;
    first: string;
    wouldChange: string;
    bringBack: string;
    back: string;
  };
  screens: {
    name: string;
    playlist: string;
    noPlaylist: string;
    tags: string;
    tagsHint: string;
    newName: string;
    add: string;
    removeOf(name: string): string;
    removeTitle(name: string): string;
    removeTask: string;
  };
  sources: {
    title: Record<SourceList, string>;
    add: Record<SourceList, string>;
    about: Record<SourceList, string>;
    /** Beginnings of ids. */
    id: Record<SourceList, string>;
    addEntry: string;
    newEntry: string;
    removeEntry: string;
  };
  json: {
    label: string;
    load: string;
    save: string;
    noDocument: string;
    fault(reason: string): string;
    noJson(reason: string): string;
    tooLarge(limit: string): string;
    imported: string;
  };
  changes: {
    none: string;
    subject: Record<SourceList | 'screens' | 'playlists', (name: string) => string>;
    added(subject: string): string;
    removed(subject: string): string;
    changed(subject: string, fields: string): string;
    slide: Record<'added' | 'removed' | 'moved', (title: string) => string>;
    slideChanged(title: string, fields: string): string;
  };

  media: {
    title: string;
    quota(used: string, limit: string): string;
    upload: string;
    drop: string;
    underWay(count: number): string;
    ofBox(name: string): string;
    uploads: string;
    clear: string;
    state: Record<'waiting' | 'reading' | 'sending' | 'done' | 'skipped' | 'failed' | 'cancelled', string>;
    open(name: string): string;
    used(slides: number): string;
    deleteOf(name: string): string;
    deleteUsed(slides: string): string;
    deleteUnused: string;
    deleted(name: string): string;
    empty: string;
    emptyTask: string;
  };
  plays: {
    title: string;
    about: string;
    range: string;
    days(count: number): string;
    allScreens: string;
    save: string;
    reading(count: string): string;
    none: string;
    noneTask: string;
    summary(plays: string, time: string, failures: number): string;
    untrusted(plays: number): string;
    overTime: string;
    byScreen: string;
    bySlide: string;
    screen: string;
    slide: string;
    count: string;
    time: string;
    failures: string;
    more(count: number): string;
    seen: string;
    gap: Record<GapReason, string>;
    gapAbout: Record<GapReason, string>;
  };
  boxes: {
    title: string;
    count(boxes: number): string;
    status: Record<'here' | 'alive' | 'away', string>;
    since(time: string): string;
    version(version: string): string;
    fine: string;
    log: string;
    logOf(name: string): string;
    restart: string;
    restartTitle(name: string): string;
    restartTask: string;
    restarting(name: string): string;
    search: string;
    level: string;
    levels: Record<'debug' | 'info' | 'warn' | 'error', string>;
    follow: string;
    thisBox: string;
    clock: string;
    isReference: string;
    follows(box: string, offset: string): string;
    updates: string;
    noUpdate: string;
    updateReady(version: string): string;
    displays: string;
    lit: string;
    dark: string;
    streams: string;
    noFfmpeg: string;
    peers: string;
    noPeers: string;
    peer: Record<'alive' | 'away' | 'unknown', string>;
    because(reason: string): string;
    sync: string;
    syncAbout: string;
    swaps: string;
    videos: string;
    offset: string;
  };
}

type SourceList = 'templates' | 'rssFeeds' | 'apiSources' | 'timetableGroups';
