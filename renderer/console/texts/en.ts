import type { Texts } from './texts.ts';

export const en: Texts = {
  tag: 'en',
  close: 'Close',
  cancel: 'Cancel',
  retry: 'Try again',
  loading: 'One moment …',
  skip: 'Skip to content',
  navigation: 'Console',
  nav: { screens: 'Screens', content: 'Content', media: 'Media', takeovers: 'Takeover', boxes: 'Boxes' },

  noSecretTitle: 'Anyone in this network can change what plays.',
  noSecretTask: 'Set SIGNAGE_SHARED_SECRET on every box and start them again; then this page asks for it.',
  degraded: 'A box did not answer. What you see may be incomplete.',
  contentInvalid: 'The content file has errors. The last good content keeps playing.',
  clockOff: (isAhead, difference) =>
    `The clock of this computer is ${difference} ${isAhead ? 'behind' : 'ahead of'} the box. Times here follow the box.`,
  away: 'The box does not answer.',
  awaySince: (time) => `The box has not answered since ${time}. Trying again …`,

  signIn: {
    title: 'Run this site',
    again: 'The secret has changed. What you were working on is kept.',
    task: 'Enter the shared secret of the site. It stays in this tab and is never sent.',
    secret: 'Shared secret',
    name: 'Your name',
    nameHint: 'Optional. Stands beside your changes in the record.',
    submit: 'Open the console',
    checking: 'Checking …',
    missing: 'Enter the secret.',
    wrong: 'This is not the secret of this site.',
    out: 'Sign out',
  },

  errors: {
    unreachable: 'The box does not answer. Nothing was changed.',
    tooMany: (seconds) => `Too many wrong attempts. Try again in ${seconds ?? 60} seconds.`,
    full: 'The disk of the box is full. Delete media that nobody uses.',
    storage: 'The disk of the box takes no writes. Check it.',
    fault: 'Something went wrong in the box. Its log says more.',
  },

  state: (state, { since, until, page }) => {
    switch (state) {
      case 'playing':
        return 'Playing';
      case 'takeover':
        return 'Shows a takeover';
      case 'black':
        return 'Black, by command';
      case 'paused':
        return 'Paused';
      case 'redirected':
        return page === null ? 'Shows another page' : `Shows ${page}`;
      case 'idle':
        return 'Nothing to show';
      case 'closed':
        return until === null ? 'Closed' : `Closed until ${until}`;
      case 'stuck':
        return 'Stuck';
      case 'away':
        return since === null ? 'Away' : `Away since ${since}`;
      case 'never':
        return 'Never seen';
    }
  },
  noDisplay: 'No display yet',

  wall: {
    title: 'Screens',
    summary: (screens, displays) =>
      `${screens === 1 ? '1 screen' : `${screens} screens`}, ${displays === 1 ? '1 display' : `${displays} displays`}`,
    filter: 'Filter',
    search: 'Search screens',
    allTags: 'All tags',
    tag: 'Tag',
    all: 'All',
    group: { attention: 'Needs a look', playing: 'Playing', closed: 'Closed', empty: 'No display' },
    groups: 'State',
    none: 'No screen matches.',
    clear: 'Show all',
    empty: 'There are no screens yet',
    emptyTask: 'A screen is a name and a playlist. Add the first one, then open its address on a display.',
    emptyLink: 'Add a screen',
    noDisplayTask: 'Open this address on a display:',
    displays: (count) => (count === 1 ? '1 display' : `${count} displays`),
    more: (count) => `${count} more`,
  },

  picture: {
    photo: (time) => `Photo ${time}`,
    slide: 'Slide',
    ofDisplay: (name) => `What ${name} shows`,
    black: 'Black',
    nothing: 'Nothing to show',
  },
  unnamed: 'Display',
  level: { info: 'Information', warning: 'Warning', emergency: 'Emergency' },

  screenPage: { gone: 'There is no such screen', back: 'All screens', edit: 'Edit content', open: 'Open in a tab' },
  commands: {
    title: (display, count) => display ?? (count === 1 ? 'The display' : `All ${count} displays`),
    name: {
      refresh: 'Refresh',
      reload: 'Reload',
      pause: 'Pause',
      blackout: 'Black out',
      previous: 'Previous',
      next: 'Next',
      left: 'Page back',
      right: 'Page on',
      redirect: 'Show a page',
      setclientname: 'Rename',
    },
    resume: 'Play on',
    light: 'Light up',
    sent: (count) =>
      count === 0 ? 'no display is connected.' : count === 1 ? 'sent to 1 display.' : `sent to ${count} displays.`,
    degraded: 'One box did not answer.',
    notConnected: 'This display is not connected, so nothing can be sent to it.',
    address: 'Address',
    addressHint: 'A web page, /screen/NAME or /media/NAME. Reload brings the display back.',
    badAddress: 'Give an address that begins with https://, http://, /screen/ or /media/.',
    send: 'Show it',
    newName: 'Name of the display',
    badName: 'Give it a name of 1 to 64 characters.',
    rename: 'Rename',
  },
  device: {
    title: 'Displays',
    all: (count) => `All ${count} displays`,
    unbound: 'A browser, not bound',
    since: (time) => `connected since ${time}`,
    move: 'Move',
    moveTo: 'Move to the screen',
    moved: (screen) => `It shows “${screen}” now.`,
    movedLater: (screen) => `It is not connected; it shows “${screen}” once it is back.`,
    forget: 'Forget',
    forgetTitle: (name) => `Forget “${name}”?`,
    forgetTask: 'It is no longer expected here. A display that is switched on later asks for its screen again.',
    forgotten: 'The display is forgotten.',
  },
  plan: {
    title: 'What plays',
    at: 'At',
    now: 'Now',
    next: 'Now, and then in turn:',
    later: (moment) => `${moment}, in turn:`,
    closed: (until) => `Closed until ${until}.`,
    closedLong: 'Closed, for the next two weeks at least.',
    nothing: 'No slide is on schedule then.',
    changes: (time) => `The schedule changes at ${time}.`,
    ownLength: 'as long as it is',
    zone: (timeZone) => `Times in ${timeZone.replaceAll('_', ' ')}.`,
  },

  takeover: {
    title: 'Takeover',
    about: 'A message that replaces everything on the screens for a while.',
    open: 'On and to come',
    level: 'Level',
    levelHint: {
      info: 'Shown alone during opening hours.',
      warning: 'Goes before information.',
      emergency: 'Goes before all others, and is shown in closed hours too.',
    },
    headline: 'Message',
    text: 'More words',
    picture: 'Picture or film instead',
    placeholder: 'Your message',
    where: 'Where',
    everywhere: 'All screens',
    some: 'Some',
    withTag: (tag) => `Tag ${tag}`,
    howLong: 'For how long',
    chosenTime: 'Until …',
    untilLabel: (timeZone) => `Until, time in ${timeZone.replaceAll('_', ' ')}`,
    show: (displays) => (displays === 1 ? 'Show on 1 display' : `Show on ${displays} displays`),
    confirmTitle: 'Show it now?',
    confirm: ({ screens, displays, until, isEmergency }) =>
      `It replaces what plays on ${displays === 1 ? '1 display' : `${displays} displays`} of ${
        screens === 1 ? '1 screen' : `${screens} screens`
      } until ${until}${isEmergency ? ', in closed hours too' : ''}.`,
    sent: 'It is on.',
    missing: {
      title: 'Write a message, or choose a picture.',
      targets: 'Choose at least one tag or screen.',
      until: 'Choose a time that is still to come.',
    },
    untilTime: (time) => `until ${time}`,
    span: (from, until) => `from ${from} until ${until}`,
    shownOn: (shown, expected) => `Shown on ${shown} of ${expected} displays`,
    pictureAlone: 'A picture',
    end: 'End it',
    callOff: 'Call it off',
    ended: 'It has ended.',
  },

  mediaField: {
    choose: 'Choose',
    clear: 'Clear',
    search: 'Search media',
    none: 'No medium fits. Upload one on the Media page.',
  },
};
