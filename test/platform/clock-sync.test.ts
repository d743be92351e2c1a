import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createClockSync } from '../../service/platform/clock-sync.ts';
import { temporaryFolder } from '../support/service.ts';

const path = process.env.PATH;
const minute = 60_000;

afterEach(() => {
  process.env.PATH = path;
});

test.runIf(process.platform === 'linux')(
  'the system is asked less and less often while its clock is not set, and each hour once it is',
  async () => {
    const folder = temporaryFolder();
    const [answer, calls] = [join(folder, 'answer'), join(folder, 'calls')];
    appendFileSync(calls, '');
    writeFileSync(answer, 'no');
    writeFileSync(join(folder, 'timedatectl'), `#!/bin/sh\ncat '${answer}'\necho >>'${calls}'\n`, { mode: 0o755 });
    process.env.PATH = `${folder}${delimiter}${path}`;
    const asked = (): number => readFileSync(calls, 'utf8').length;

    let [now, ahead] = [0, 0];
    const isSynchronized = createClockSync({ now: () => 1e12 + ahead + now, monotonicNow: () => now });
    let questions = 0;
    /** Asks in this minute. @param isNew whether the system is asked */
    const ask = async (atMinute: number, isNew: boolean): Promise<void> => {
      now = atMinute * minute;
      isSynchronized();
      isSynchronized();
      if (isNew) questions += 1;
      await expect.poll(asked).toBe(questions);
      // The program has ended a moment later.
      if (isNew) await wait(200);
    };
    for (const atMinute of [0, 1, 3, 7, 15, 30]) {
      await ask(atMinute, true);
      await ask(atMinute + 0.9, false);
    }
    writeFileSync(answer, 'yes');
    await ask(45, true);
    await ask(104, false);
    expect(isSynchronized()).toBe(true);
    // It is set by hand, which an answer of before does not cover.
    ahead = 168 * 60 * minute;
    expect(isSynchronized()).toBe(false);
    questions += 1;
    await expect.poll(isSynchronized).toBe(true);
    writeFileSync(answer, 'no');
    for (const atMinute of [165, 166]) await ask(atMinute, true);
    expect(isSynchronized()).toBe(false);
  },
);
