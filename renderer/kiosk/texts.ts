/** The texts of the kiosk's own pages, in the language of the system. */

type Kind = 'port' | 'folder' | 'taken' | 'settings' | 'other' | 'screen';

interface Texts {
  tag: string;
  /** The problem, and what the reader can do about it. */
  trouble: Record<Kind, { title: string; task: string }>;
  retryIn(seconds: number): string;
  maintenance: {
    title: string;
    askPin: string;
    newPin: string;
    repeatPin: string;
    newPinNote: string;
    wrong: string;
    different: string;
    wait(seconds: number): string;
    enter: string;
    erase: string;
    leave: string;
    close: string;
    version: string;
    address: string;
    noNetwork: string;
    updates: string;
    noUpdate: string;
    updateReady(version: string, from: string, until: string): string;
    updateOnTrial: string;
    updateFailed(version: string): string;
    device: string;
    displays: string;
    shows: string;
    choose: string;
    nothing: string;
    fixed: string;
    rotation: string;
    hours: string;
    alwaysOn: string;
    daily: string;
    closed: string;
    which: string;
    all: string;
    primary: string;
    chosen: string;
    log: string;
    restart: string;
    quit: string;
    sure: string;
  };
}

const en: Texts = {
  tag: 'en',
  trouble: {
    port: {
      title: 'Another program is in the way',
      task: 'It uses the port of this player. End that program, or choose another port in config.json.',
    },
    folder: {
      title: 'The data folder can’t be used',
      task: 'This player can’t write to its data folder. Check that its disk is there, has room and may be written to.',
    },
    taken: {
      title: 'Another player runs already',
      task: 'It uses the data folder of this one. End it, or choose another folder. The player goes on by itself.',
    },
    settings: {
      title: 'A setting needs mending',
      task: 'Correct it in config.json or in the environment. The player goes on by itself.',
    },
    other: {
      title: 'The player can’t start',
      task: 'Switch it off and on again. If this stays, the message below tells your support what is the matter.',
    },
    screen: { title: 'One moment', task: 'This screen is putting itself right. There is nothing you need to do.' },
  },
  retryIn: (seconds) => `Next try in ${seconds} s`,
  maintenance: {
    title: 'Maintenance',
    askPin: 'PIN',
    newPin: 'Choose a PIN',
    repeatPin: 'Once more',
    newPinNote: 'It opens this page from now on. 4 to 12 digits.',
    wrong: 'That was not it.',
    different: 'These were two different ones. Start again.',
    wait: (seconds) => `Too many wrong ones. Wait ${seconds} s.`,
    enter: 'Enter',
    erase: 'Erase',
    leave: 'Back to the screen',
    close: 'Done',
    version: 'Version',
    address: 'Address in the network',
    noNetwork: 'Not connected',
    updates: 'Updates',
    noUpdate: 'None waiting',
    updateReady: (version, from, until) => `${version} is ready and goes in by itself between ${from} and ${until}`,
    updateOnTrial: 'This version is new here and still has to prove itself',
    updateFailed: (version) => `${version} did not run well here and is not tried again`,
    device: 'Device',
    displays: 'Displays',
    shows: 'Shows',
    choose: 'Have it show',
    nothing: 'Nothing yet',
    fixed: 'Set in config.json',
    rotation: 'Turned',
    hours: 'Opening hours',
    alwaysOn: 'Always on',
    daily: 'daily',
    closed: 'closed',
    which: 'Plays on',
    all: 'All displays',
    primary: 'Main display only',
    chosen: 'Those listed in config.json',
    log: 'What happened last',
    restart: 'Restart the player',
    quit: 'Quit',
    sure: 'Sure? Once more',
  },
};

const de: Texts = {
  tag: 'de',
  trouble: {
    port: {
      title: 'Ein anderes Programm ist im Weg',
      task: 'Es benutzt den Port dieses Players. Beenden Sie es, oder wählen Sie in config.json einen anderen Port.',
    },
    folder: {
      title: 'Der Datenordner fehlt oder ist gesperrt',
      task: 'Dieser Player kann nicht in seinen Datenordner schreiben. Prüfen Sie, ob der Datenträger da ist, Platz hat und beschrieben werden darf.',
    },
    taken: {
      title: 'Ein anderer Player läuft schon',
      task: 'Er benutzt den Datenordner von diesem. Beenden Sie ihn, oder wählen Sie einen anderen Ordner. Der Player macht dann von selbst weiter.',
    },
    settings: {
      title: 'Eine Einstellung stimmt nicht',
      task: 'Berichtigen Sie sie in config.json oder in der Umgebung. Der Player macht dann von selbst weiter.',
    },
    other: {
      title: 'Der Player startet nicht',
      task: 'Schalten Sie ihn aus und wieder ein. Bleibt es dabei, sagt die Meldung unten Ihrem Support, woran es liegt.',
    },
    screen: { title: 'Einen Moment', task: 'Dieser Bildschirm bringt sich gerade in Ordnung. Sie müssen nichts tun.' },
  },
  retryIn: (seconds) => `Nächster Versuch in ${seconds} s`,
  maintenance: {
    title: 'Wartung',
    askPin: 'PIN',
    newPin: 'Wählen Sie eine PIN',
    repeatPin: 'Noch einmal',
    newPinNote: 'Sie öffnet ab jetzt diese Seite. 4 bis 12 Ziffern.',
    wrong: 'Das war sie nicht.',
    different: 'Das waren zwei verschiedene. Beginnen Sie von vorn.',
    wait: (seconds) => `Zu viele falsche. Warten Sie ${seconds} s.`,
    enter: 'Weiter',
    erase: 'Löschen',
    leave: 'Zurück zum Bildschirm',
    close: 'Fertig',
    version: 'Version',
    address: 'Adresse im Netz',
    noNetwork: 'Nicht verbunden',
    updates: 'Updates',
    noUpdate: 'Keine stehen an',
    updateReady: (version, from, until) =>
      `${version} ist bereit und wird zwischen ${from} und ${until} Uhr eingespielt`,
    updateOnTrial: 'Diese Version ist hier neu und muss sich noch bewähren',
    updateFailed: (version) => `${version} lief hier nicht gut und wird nicht wieder versucht`,
    device: 'Gerät',
    displays: 'Bildschirme',
    shows: 'Zeigt',
    choose: 'Soll zeigen',
    nothing: 'Noch nichts',
    fixed: 'In config.json festgelegt',
    rotation: 'Gedreht',
    hours: 'Öffnungszeiten',
    alwaysOn: 'Immer an',
    daily: 'täglich',
    closed: 'geschlossen',
    which: 'Spielt auf',
    all: 'Alle Bildschirme',
    primary: 'Nur der Hauptbildschirm',
    chosen: 'Die in config.json genannten',
    log: 'Was zuletzt geschah',
    restart: 'Player neu starten',
    quit: 'Beenden',
    sure: 'Sicher? Noch einmal',
  },
};

export const textsFor = (languages: readonly string[]): Texts =>
  languages.some((tag) => /^de\b/i.test(tag)) && !/^en\b/i.test(languages[0] ?? '') ? de : en;
