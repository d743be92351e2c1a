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
};
