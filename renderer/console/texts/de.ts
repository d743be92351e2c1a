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
};
