/** A box that is killed at any moment returns to the content of the site and loses none of it. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import { lobbyWith } from '../content/samples.ts';
import { startHeadless } from '../platform/options/process.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { repeats, walk } from '../support/soak.ts';
import { startBox } from './support.ts';

const rounds = repeats(2, 60, 'SIGNAGE_TEST_REPLICA_KILLS');
/** Upper bound of the time from noticing an edit to storing it durably. */
const LONGEST_MS = 500;

const saying = (title: string) => lobbyWith([{ kind: 'text', title }]);

const shownAt = async (url: string): Promise<{ title: string | null | undefined; revision: string } | null> => {
  const answer = await fetch(`${url}/api/screens/lobby/playlist`);
  if (!answer.ok) return null;
  const { slides, revision } = (await answer.json()) as PlaylistPayload;
  return { title: slides[0]?.title, revision };
};

test(`kill -9 ${rounds} times during edits on both boxes loses no content`, {
  ...walk,
  timeout: 60_000 + rounds * 20_000,
}, async () => {
  const steady = await startBox([], { content: saying('first') });
  const dataDir = temporaryFolder();
  const start = () =>
    startHeadless({ SIGNAGE_DATA_DIR: dataDir, SIGNAGE_PEERS: steady.url, SIGNAGE_LOG_LEVEL: 'silent' });
  let mortal = start();
  const untilBothShow = async (title: string): Promise<void> => {
    const url = await mortal.ready();
    const isSettled = async (): Promise<boolean> => {
      const [there, here] = [await shownAt(steady.url), await shownAt(url)];
      return there?.title === title && isDeepStrictEqual(there, here);
    };
    await expect.poll(isSettled, patience).toBe(true);
  };
  await untilBothShow('first');
  for (let round = 1; round <= rounds; round += 1) {
    const title = `edit ${round}`;
    const isHere = round % 2 === 0;
    if (isHere) writeFileSync(join(dataDir, 'content.json'), JSON.stringify(saying(title)));
    else steady.writeContent(saying(title));
    // Each round kills at another moment, so that the rounds cover all moments.
    await pause((LONGEST_MS * ((round * 0.618) % 1)) | 0);
    mortal.child.kill('SIGKILL');
    await mortal.ended;
    mortal = start();
    await untilBothShow(title);
  }
  for (const folder of [dataDir, steady.dataDir]) {
    // A box that has just started writes what it learns of the others.
    const leftovers = () => readdirSync(folder).filter((name) => /\.(lost|corrupt)-|\.tmp$/.test(name));
    await expect.poll(leftovers, patience).toEqual([]);
  }
});
