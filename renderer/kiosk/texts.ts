/** What the kiosk's own pages say, in the system's language. */

type Kind = 'port' | 'folder' | 'settings' | 'other' | 'screen';

interface Texts {
  tag: string;
  /** What is the matter, and what somebody can do about it. */
  trouble: Record<Kind, { title: string; task: string }>;
  retryIn(seconds: number): string;
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
};

export const textsFor = (languages: readonly string[]): Texts =>
  languages.some((tag) => /^de\b/i.test(tag)) && !/^en\b/i.test(languages[0] ?? '') ? de : en;
