/** The log in files: rotated, whole lines only, and never in the way of the service. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createLogFiles } from '../../service/platform/log.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const root = join(import.meta.dirname, '..', '..');
const lineOf = (number: number): string => `${JSON.stringify({ number, msg: 'x'.repeat(80) })}\n`;

/** The numbers of all lines, oldest first; throws where a line is no JSON. */
const numbersIn = (folder: string): number[] =>
  readdirSync(folder)
    .toSorted((a, b) => Number(/\d+/.exec(b)?.[0] ?? 0) - Number(/\d+/.exec(a)?.[0] ?? 0))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => (JSON.parse(line) as { number: number }).number);

test('five files of the given size hold the newest lines', () => {
  const folder = join(temporaryFolder(), 'logs');
  const log = createLogFiles(folder, { bytes: 1_000 });
  for (let number = 0; number < 200; number += 1) log.write(lineOf(number));
  log.close();
  const names = readdirSync(folder).toSorted();
  expect(names).toEqual(['signage.1.log', 'signage.2.log', 'signage.3.log', 'signage.4.log', 'signage.log']);
  for (const name of names) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(1_000);
  const numbers = numbersIn(folder);
  expect(numbers).toEqual(numbers.map((_, index) => 200 - numbers.length + index));
  expect(numbers.length).toBeGreaterThan(35);
});

test('a line that was broken off by a power cut stays a line of its own, and the file goes on', () => {
  const folder = join(temporaryFolder(), 'logs');
  mkdirSync(folder);
  writeFileSync(join(folder, 'signage.log'), '{"number":');
  createLogFiles(folder).write(lineOf(1));
  expect(readFileSync(join(folder, 'signage.log'), 'utf8')).toBe(`{"number":\n${lineOf(1)}`);
});

test('lines that come before the folder can be made are written once it can', () => {
  const parent = join(temporaryFolder(), 'data');
  let now = 0;
  const log = createLogFiles(join(parent, 'logs'), { now: () => now });
  log.write(lineOf(1));
  mkdirSync(parent);
  now += 1_000;
  log.write(lineOf(2));
  expect(numbersIn(join(parent, 'logs'))).toEqual([1, 2]);
});

const disk = mountSmallDisk(1);
test.skipIf(disk === null)(
  'a full disk loses no whole line that it has, and is written again once there is room',
  () => {
    const folder = join(disk ?? '', 'logs');
    let now = 0;
    const log = createLogFiles(folder, { now: () => now });
    for (let number = 0; number < 20_000; number += 1) log.write(lineOf(number));
    const before = numbersIn(folder);
    expect(before.length).toBeGreaterThan(1_000);
    rmSync(join(folder, 'signage.log'));
    now += 1_000;
    log.write(lineOf(20_000));
    const lines = readFileSync(join(folder, 'signage.log'), 'utf8').trim().split('\n');
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      msg: 'lines of the log were lost',
      lines: 20_001 - before.length - 1_000,
    });
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ number: 20_000 });
  },
);

test.skipIf(disk === null)(
  'standard error on a full disk disturbs nobody, and is written again once there is room',
  () => {
    const folder = temporaryFolder();
    const program = `
    import { ftruncateSync } from 'node:fs';
    import { createLog } from '${join(root, 'service', 'platform', 'log.ts')}';
    const log = createLog('info', '${join(folder, 'logs')}');
    for (let number = 0; number < 15_000; number += 1) log.info({ number, msg: 'x'.repeat(80) });
    ftruncateSync(3);
    log.info('there is room');
  `;
    const path = join(disk ?? '', 'stderr');
    const filler = join(disk ?? '', 'other');
    const [stderr, other] = [openSync(path, 'a'), openSync(filler, 'w')];
    onTestFinished(() => {
      [stderr, other].forEach(closeSync);
      for (const each of [path, filler]) rmSync(each);
    });
    writeFileSync(other, Buffer.alloc(100_000));
    const words = ['--import', 'tsx', '--input-type=module', '--eval', program];
    const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: ['ignore', 'ignore', stderr, other] });
    expect(status).toBe(0);
    expect(readFileSync(path, 'utf8').split('\n').at(-2)).toMatch(/^\{[^{]*"msg":"there is room"\}$/);
    expect(readFileSync(join(folder, 'logs', 'signage.log'), 'utf8')).toContain('"number":14999');
  },
);

test('the program writes its log into the data directory, the same lines as on standard error, over a restart', async () => {
  const dataDir = temporaryFolder();
  const start = async () => {
    const env = { PATH: process.env['PATH'], SIGNAGE_HOST: '127.0.0.1', SIGNAGE_PORT: '0', SIGNAGE_DATA_DIR: dataDir };
    const child = spawn(process.execPath, [join(root, 'dist/service/headless.js')], { env, stdio: 'pipe' });
    onTestFinished(() => void child.kill('SIGKILL'));
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    await expect.poll(() => stdout, patience).toContain('listening on');
    child.kill('SIGTERM');
    await once(child, 'close');
    return stderr;
  };
  const written = (await start()) + (await start());
  expect(readFileSync(join(dataDir, 'logs', 'signage.log'), 'utf8')).toBe(written);
  expect(written).toContain('content is live');
});
