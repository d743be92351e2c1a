/** How a change of content.json is noticed: by events of the file system, and without them by polling. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchContentFile } from '../../service/content/content-file.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';

const HOUR = 3_600_000;

const start = (path: string, pollMs: number) => {
  let calls = 0;
  const count = (): void => {
    calls += 1;
  };
  onTestFinished(watchContentFile({ poll: pollMs, quiet: 10 }, path, count));
  return () => calls;
};

/** Polling compares with what it has seen first, which may be this edit. */
const editAnd = (path: string, calls: () => number): number => {
  writeFileSync(path, `${performance.now()}`);
  return calls();
};

test('an event tells of a file that is replaced, again and again, and of one that is written in place', async () => {
  const path = join(temporaryFolder(), 'content.json');
  writeFileSync(path, 'first');
  const calls = start(path, HOUR);
  for (const text of ['second', 'third']) {
    const before = calls();
    writeFileSync(`${path}.editor`, text);
    renameSync(`${path}.editor`, path);
    await expect.poll(calls, patience).toBeGreaterThan(before);
  }
  const before = calls();
  writeFileSync(path, 'in place');
  await expect.poll(calls, patience).toBeGreaterThan(before);
});

test('polling tells of a change that causes no event, as behind a link', async () => {
  const folder = temporaryFolder();
  const elsewhere = join(folder, 'share');
  mkdirSync(elsewhere);
  const path = join(folder, 'content.json');
  writeFileSync(join(elsewhere, 'content.json'), 'first');
  symlinkSync(join(elsewhere, 'content.json'), path);
  const calls = start(path, 20);
  await expect.poll(() => editAnd(join(elsewhere, 'content.json'), calls), patience).toBeGreaterThan(0);
});

test('a folder that cannot be watched for events is polled', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'later', 'content.json');
  const calls = start(path, 20);
  mkdirSync(join(folder, 'later'));
  await expect.poll(() => editAnd(path, calls), patience).toBeGreaterThan(0);
});
