import { mkdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openOver } from '../../../service/platform/store/over.ts';
import { temporaryFolder } from './folder.ts';

test('a mark that could not be written is written at a later look', async () => {
  const data = await temporaryFolder();
  const [file, now] = [join(data, 'over.json'), 1_000];
  const context = { dirs: { data }, log: { error: () => {} }, now: () => now, reserve: { release: async () => {} } };
  const over = await openOver(context, 'over.json');
  const look = () => over.look(new Map([['lift', 0]]), { at: now, monotonic: 0 }, true);
  // A disk that does not take it.
  await mkdir(file);
  look();
  await expect.poll(over.faults).toHaveLength(1);
  await rmdir(file);
  look();
  await expect.poll(() => readFile(file, 'utf8').catch(() => '')).toContain('lift');
  await over.close();
  expect((await openOver(context, 'over.json')).has('lift')).toBe(true);
});
