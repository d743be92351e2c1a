/** A stream whose retries meet a machine without descriptors, in a process that has few: says how each run ended. */
import { closeSync, openSync } from 'node:fs';
import { pino } from 'pino';
import { defaultPlan } from '../../service/streams/plan.ts';
import { createSession } from '../../service/streams/session.ts';
import { parseSource } from '../../service/streams/source.ts';
import { testTempo } from '../support/tempo.ts';
import { noSalt } from './salt.ts';

const reasons: string[] = [];
const session = createSession(
  parseSource('rtmp://127.0.0.1/none', true, noSalt),
  {
    log: pino({ level: 'debug' }, { write: (line) => void reasons.push(String(JSON.parse(line).reason)) }),
    launcher: {
      ffmpegPath: '/bin/false',
      environment: { PATH: '', LANG: 'C' },
      deathSignalPrefix: [],
      orphans: { record: async () => undefined, forget: async () => undefined },
    },
    plan: defaultPlan,
    onPlan: () => undefined,
    onRestart: () => undefined,
    onEnd: () => undefined,
  },
  { ...testTempo.streams, idle: 3_600_000 },
);

/** Waits for a run that ends like that; somebody asks all the time. */
const ending = async (reason: RegExp): Promise<void> => {
  reasons.length = 0;
  while (!reasons.some((each) => reason.test(each))) {
    session.touch();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

await ending(/^exit 1$/);
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {}
await ending(/EMFILE/);
for (const descriptor of taken) closeSync(descriptor);
await ending(/^exit 1$/);
await session.close();
console.log('it went on');
