import { mkdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openOver } from '../../../service/platform/store/over.ts';
import { temporaryFolder } from './folder.ts';

test('a folder that is gone is one line of the log, however often marks are tried again', async () => {
  const data = await temporaryFolder();
  const error = vi.fn();
  const context = { dirs: { data }, log: { error }, now: () => 0, reserve: { release: async () => {} } };
  const over = await openOver(context, 'over.json');
  await rmdir(data);
  for (let look = 0; look < 20; look += 1) {
    over.look(new Map([['lift', 0]]), { at: 1_000, monotonic: 0 }, true);
    await expect.poll(() => over.writes().failed).toBe(look + 1);
  }
  await over.close();
  expect(error).toHaveBeenCalledOnce();
});

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
