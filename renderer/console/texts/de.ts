import type { Texts } from './texts.ts';

export const de: Texts = {
  tag: 'de',
  close: 'Schließen',
  cancel: 'Abbrechen',
  retry: 'Erneut versuchen',
  loading: 'Einen Moment …',
  skip: 'Zum Inhalt',
  navigation: 'Konsole',
  nav: { screens: 'Bildschirme', content: 'Inhalte', media: 'Medien', takeovers: 'Durchsage', boxes: 'Boxen' },

  noSecretTitle: 'Jeder in diesem Netz kann ändern, was läuft.',
  noSecretTask:
    'Setzen Sie SIGNAGE_SHARED_SECRET auf jeder Box und starten Sie sie neu; dann fragt diese Seite danach.',
  degraded: 'Eine Box hat nicht geantwortet. Was Sie sehen, ist vielleicht unvollständig.',
  contentInvalid: 'Die Inhaltsdatei hat Fehler. Der letzte gute Stand läuft weiter.',
  clockOff: (isAhead, difference) =>
    `Die Uhr dieses Rechners geht gegenüber der Box ${difference} ${isAhead ? 'nach' : 'vor'}. Zeiten hier folgen der Box.`,
  away: 'Die Box antwortet nicht.',
  awaySince: (time) => `Die Box antwortet seit ${time} nicht. Neuer Versuch …`,

  signIn: {
    title: 'Standort verwalten',
    again: 'Das Geheimnis wurde geändert. Ihre Arbeit bleibt erhalten.',
    task: 'Geben Sie das gemeinsame Geheimnis des Standorts ein. Es bleibt in diesem Tab und wird nie gesendet.',
    secret: 'Gemeinsames Geheimnis',
    name: 'Ihr Name',
    nameHint: 'Freiwillig. Steht im Protokoll neben Ihren Änderungen.',
    submit: 'Konsole öffnen',
    checking: 'Wird geprüft …',
    missing: 'Geben Sie das Geheimnis ein.',
    wrong: 'Das ist nicht das Geheimnis dieses Standorts.',
    out: 'Abmelden',
  },

  errors: {
    unreachable: 'Die Box antwortet nicht. Nichts wurde geändert.',
    tooMany: (seconds) => `Zu viele falsche Versuche. Versuchen Sie es in ${seconds ?? 60} Sekunden erneut.`,
    full: 'Die Platte der Box ist voll. Löschen Sie unbenutzte Medien.',
    storage: 'Die Platte der Box lässt sich nicht beschreiben. Prüfen Sie sie.',
    fault: 'In der Box ging etwas schief. Ihr Log sagt mehr.',
  },

  state: (state, { since, until, page }) => {
    switch (state) {
      case 'playing':
        return 'Läuft';
      case 'takeover':
        return 'Zeigt eine Durchsage';
      case 'black':
        return 'Schwarz, per Befehl';
      case 'paused':
        return 'Angehalten';
      case 'redirected':
        return page === null ? 'Zeigt eine andere Seite' : `Zeigt ${page}`;
      case 'idle':
        return 'Nichts zu zeigen';
      case 'closed':
        return until === null ? 'Geschlossen' : `Geschlossen bis ${until}`;
      case 'stuck':
        return 'Hängt';
      case 'away':
        return since === null ? 'Weg' : `Weg seit ${since}`;
      case 'never':
        return 'Nie gesehen';
    }
  },
  noDisplay: 'Noch keine Anzeige',

  wall: {
    title: 'Bildschirme',
    summary: (screens, displays) =>
      `${screens === 1 ? '1 Bildschirm' : `${screens} Bildschirme`}, ${displays === 1 ? '1 Anzeige' : `${displays} Anzeigen`}`,
    filter: 'Filter',
    search: 'Bildschirme suchen',
    allTags: 'Alle Tags',
    tag: 'Tag',
    all: 'Alle',
    group: { attention: 'Auffällig', playing: 'Läuft', closed: 'Geschlossen', empty: 'Ohne Anzeige' },
    groups: 'Zustand',
    none: 'Kein Bildschirm passt.',
    clear: 'Alle zeigen',
    empty: 'Es gibt noch keine Bildschirme',
    emptyTask:
      'Ein Bildschirm ist ein Name und eine Playlist. Legen Sie den ersten an und öffnen Sie seine Adresse auf einer Anzeige.',
    emptyLink: 'Bildschirm anlegen',
    noDisplayTask: 'Öffnen Sie diese Adresse auf einer Anzeige:',
    displays: (count) => (count === 1 ? '1 Anzeige' : `${count} Anzeigen`),
    more: (count) => `${count} weitere`,
  },

  picture: {
    photo: (time) => `Foto ${time}`,
    slide: 'Folie',
    ofDisplay: (name) => `Was ${name} zeigt`,
    black: 'Schwarz',
    nothing: 'Nichts zu zeigen',
  },
  unnamed: 'Anzeige',
  level: { info: 'Hinweis', warning: 'Warnung', emergency: 'Notfall' },

  screenPage: {
    gone: 'Diesen Bildschirm gibt es nicht',
    back: 'Alle Bildschirme',
    edit: 'Inhalt bearbeiten',
    open: 'In Tab öffnen',
  },
  commands: {
    title: (display, count) => display ?? (count === 1 ? 'Die Anzeige' : `Alle ${count} Anzeigen`),
    name: {
      refresh: 'Aktualisieren',
      reload: 'Neu laden',
      pause: 'Anhalten',
      blackout: 'Schwarz',
      previous: 'Zurück',
      next: 'Weiter',
      left: 'Seite zurück',
      right: 'Seite vor',
      redirect: 'Seite zeigen',
      setclientname: 'Umbenennen',
    },
    resume: 'Fortsetzen',
    light: 'Wieder hell',
    sent: (count) =>
      count === 0
        ? 'keine Anzeige ist verbunden.'
        : count === 1
          ? 'an 1 Anzeige gesendet.'
          : `an ${count} Anzeigen gesendet.`,
    degraded: 'Eine Box hat nicht geantwortet.',
    notConnected: 'Diese Anzeige ist nicht verbunden; ihr kann nichts gesendet werden.',
    address: 'Adresse',
    addressHint: 'Eine Webseite, /screen/NAME oder /media/NAME. „Neu laden“ holt die Anzeige zurück.',
    badAddress: 'Die Adresse beginnt mit https://, http://, /screen/ oder /media/.',
    send: 'Zeigen',
    newName: 'Name der Anzeige',
    badName: 'Geben Sie ihr einen Namen mit 1 bis 64 Zeichen.',
    rename: 'Umbenennen',
  },
  device: {
    title: 'Anzeigen',
    all: (count) => `Alle ${count} Anzeigen`,
    unbound: 'Ein Browser, nicht zugeordnet',
    since: (time) => `verbunden seit ${time}`,
    move: 'Verschieben',
    moveTo: 'Auf den Bildschirm',
    moved: (screen) => `Sie zeigt jetzt „${screen}“.`,
    movedLater: (screen) => `Sie ist nicht verbunden; sie zeigt „${screen}“, sobald sie zurück ist.`,
    forget: 'Vergessen',
    forgetTitle: (name) => `„${name}“ vergessen?`,
    forgetTask:
      'Sie wird hier nicht mehr erwartet. Wird sie später eingeschaltet, fragt sie wieder nach ihrem Bildschirm.',
    forgotten: 'Die Anzeige ist vergessen.',
  },
  plan: {
    title: 'Was läuft',
    at: 'Um',
    now: 'Jetzt',
    next: 'Jetzt und dann der Reihe nach:',
    later: (moment) => `${moment}, der Reihe nach:`,
    closed: (until) => `Geschlossen bis ${until}.`,
    closedLong: 'Geschlossen, mindestens die nächsten zwei Wochen.',
    nothing: 'Dann ist keine Folie vorgesehen.',
    changes: (time) => `Der Plan ändert sich um ${time}.`,
    ownLength: 'in eigener Länge',
    zone: (timeZone) => `Zeiten in ${timeZone.replaceAll('_', ' ')}.`,
  },

  takeover: {
    title: 'Durchsage',
    about: 'Eine Meldung, die eine Weile alles andere ersetzt.',
    open: 'Laufende und kommende',
    level: 'Stufe',
    levelHint: {
      info: 'Wird in den Öffnungszeiten allein gezeigt.',
      warning: 'Geht Hinweisen vor.',
      emergency: 'Geht allem vor und wird auch außerhalb der Öffnungszeiten gezeigt.',
    },
    headline: 'Meldung',
    text: 'Weitere Worte',
    picture: 'Stattdessen Bild oder Film',
    placeholder: 'Ihre Meldung',
    where: 'Wo',
    everywhere: 'Alle Bildschirme',
    some: 'Einige',
    withTag: (tag) => `Tag ${tag}`,
    howLong: 'Wie lange',
    chosenTime: 'Bis …',
    untilLabel: (timeZone) => `Bis, Zeit in ${timeZone.replaceAll('_', ' ')}`,
    show: (displays) => (displays === 1 ? 'Auf 1 Anzeige zeigen' : `Auf ${displays} Anzeigen zeigen`),
    confirmTitle: 'Jetzt zeigen?',
    confirm: ({ screens, displays, until, isEmergency }) =>
      `Sie ersetzt bis ${until}, was auf ${displays === 1 ? '1 Anzeige' : `${displays} Anzeigen`} von ${
        screens === 1 ? '1 Bildschirm' : `${screens} Bildschirmen`
      } läuft${isEmergency ? ', auch außerhalb der Öffnungszeiten' : ''}.`,
    sent: 'Sie läuft.',
    missing: {
      title: 'Schreiben Sie eine Meldung oder wählen Sie ein Bild.',
      targets: 'Wählen Sie mindestens einen Tag oder Bildschirm.',
      until: 'Wählen Sie eine Zeit, die noch kommt.',
    },
    untilTime: (time) => `bis ${time}`,
    span: (from, until) => `von ${from} bis ${until}`,
    shownOn: (shown, expected) => `Gezeigt auf ${shown} von ${expected} Anzeigen`,
    pictureAlone: 'Ein Bild',
    end: 'Beenden',
    callOff: 'Absagen',
    ended: 'Sie ist beendet.',
  },

  mediaField: {
    choose: 'Wählen',
    clear: 'Leeren',
    search: 'Medien suchen',
    none: 'Kein Medium passt. Laden Sie eines auf der Seite Medien hoch.',
  },
};
