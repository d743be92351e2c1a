/** Plays on a disk that is full, or cannot be read. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lobby } from '../../content/samples.ts';
import { healthOf, patience } from '../../support/observe.ts';
import { joinScreen } from '../../support/page.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { idsOf, playAgo, readPlays, report } from './pages.ts';

const disk = mountSmallDisk(8);

/** Writes to the file until nothing more fits. */
const fill = (path: string): void => {
  for (let size = 1024 ** 2; size >= 1; size >>= 1) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // A smaller piece may still fit.
    }
  }
};

test.skipIf(disk === null)('a full disk acknowledges no play, and takes the same ones once there is room', async () => {
  const dataDir = disk ?? '';
  const service = await startTestService({ dataDir, content: lobby });
  const page = await joinScreen(service, 'lobby');
  const before = [playAgo(30)];
  await report(page, before);
  const filler = join(dataDir, 'filler');
  fill(filler);
  const plays = Array.from({ length: 50 }, () => playAgo(10, { slide_title: 'x'.repeat(400) }));
  page.send({ type: 'plays', plays });
  await expect
    .poll(async () => (await healthOf(service)).warnings.join(' '), patience)
    .toContain('Plays cannot be written (ENOSPC)');
  expect(page.messages.filter(({ type }) => type === 'ack').flatMap(({ play_ids }) => play_ids)).toEqual(idsOf(before));
  expect(idsOf(await readPlays(service))).toEqual(idsOf(before));

  rmSync(filler);
  // As a page does that had no answer.
  await report(page, plays);
  expect(idsOf(await readPlays(service)).toSorted()).toEqual(idsOf([...before, ...plays]).toSorted());
  expect((await healthOf(service)).warnings.join(' ')).not.toContain('Plays');
});

test('a file that could not be read at the start costs no later play, once it can be read', async () => {
  const dataDir = temporaryFolder();
  const path = join(dataDir, 'plays', `${playAgo(86_400).started_at.slice(0, 10)}.jsonl`);
  mkdirSync(join(path, 'a folder'), { recursive: true });
  const service = await startTestService({ dataDir, content: lobby });
  await expect(readPlays(service)).rejects.toThrow();
  rmSync(path, { recursive: true });
  writeFileSync(path, '');
  const plays = [playAgo(10)];
  await report(await joinScreen(service, 'lobby'), plays);
  expect(idsOf(await readPlays(service))).toEqual(idsOf(plays));
});
