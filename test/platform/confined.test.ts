/** Programs that read a file of somebody's: what they may use. */
import { chmodSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createConfined, readTasklist } from '../../service/platform/confined.ts';
import { isCi } from '../support/machine.ts';
import { patience } from '../support/observe.ts';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';

const environment = { PATH: process.env['PATH'] ?? '', LANG: 'C' };
const onLinux = it.runIf(process.platform === 'linux');

/** Processes with a word in their command line. */
const running = (word: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
    } catch {
      return false;
    }
  });

const setUp = (script: string) => {
  const program = join(temporaryFolder(), 'program');
  writeFileSync(program, `#!/bin/sh\n[ "$1" = -version ] && exit\n${script}\n`);
  chmodSync(program, 0o755);
  return (more: { timeout?: number; memory?: number; resident?: number; signal?: AbortSignal; args?: string[] } = {}) =>
    createConfined(environment)({ program, args: ['one', 'two words'], file: program, timeout: 10_000, ...more });
};

it('a program gets its arguments, and what it writes comes back with how it ended', async () => {
  const run = setUp('echo "$2"; echo problem >&2; exit 1');
  const { isDone, stdout, stderr } = await run();
  expect([isDone, stdout.toString(), stderr]).toEqual([false, 'two words\n', 'problem\n']);
});

onLinux('it has 512 MiB of address space, or as much as is said', async () => {
  const run = setUp('ulimit -v; ulimit -c');
  expect((await run()).stdout.toString()).toBe(`${512 * 1024}\n0\n`);
  expect((await run({ memory: 2 ** 31 })).stdout.toString()).toBe(`${2 * 1024 ** 2}\n0\n`);
});

it.skipIf(findProgram('unshare', 'bwrap') === undefined && !isCi)('it has no network', async () => {
  const { stdout } = await setUp('cat /proc/net/dev | tail -n +3; true')();
  expect(
    stdout
      .toString()
      .trim()
      .split('\n')
      .filter((line) => !/^(?:lo:|$)/.test(line.trim())),
  ).toEqual([]);
});

it.skipIf(findProgram('bwrap') === undefined && !isCi)('its temporary files take 1 GiB of memory at most', async () => {
  const { stdout } = await setUp('stat -f -c "%b %S" /tmp')();
  const [blocks = 0, bytes = 0] = stdout.toString().split(' ').map(Number);
  expect(blocks * bytes).toBe(2 ** 30);
});

onLinux('what the machine lacks for that is said with its remedy, and is looked for once', async () => {
  const program = '/bin/true';
  const folder = temporaryFolder();
  const confined = createConfined({ PATH: folder, LANG: 'C' });
  const run = () => confined({ program, args: [], file: program, timeout: 10_000 });
  expect(confined.notes()).toEqual([]);
  expect((await run()).isDone).toBe(true);
  expect(confined.notes()).toEqual([
    expect.stringMatching(/run: sudo apt install bubblewrap$/),
    expect.stringMatching(/run: sudo apt install util-linux$/),
  ]);
  symlinkSync('/bin/false', join(folder, 'prlimit'));
  expect((await run()).isDone).toBe(true);
});

onLinux('a way to isolate that does not answer for want of time or memory is tried again', async () => {
  const folder = temporaryFolder();
  const busy = join(folder, 'busy');
  writeFileSync(busy, '');
  // As the kernel kills where memory is short; then it runs what stands behind its own words.
  const script = `[ -e ${busy} ] && kill -9 $$\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"`;
  writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  let now = 0;
  const confined = createConfined({ PATH: folder, LANG: 'C' }, () => now);
  const isolates = () => confined.isolates('/bin/true');
  expect(await isolates()).toBe(false);
  rmSync(busy);
  now = 4_999;
  expect(await isolates()).toBe(false);
  now = 5_000;
  expect(await Promise.all([isolates(), isolates()])).toEqual([true, true]);
  expect(confined.notes()).toHaveLength(1);
  // Now it is known.
  writeFileSync(busy, '');
  now = 100_000;
  expect(await isolates()).toBe(true);
});

onLinux(
  'where its address space has no limit, it is killed once it and its children take too much memory',
  async () => {
    const run = setUp('ulimit -v; (head -c 150000000 /dev/zero; sleep 60) | tail -c 150000000 >/dev/null');
    const { isDone, stdout } = await run({ timeout: 55_000, resident: 64 * 1024 ** 2 });
    expect([isDone, stdout.toString()]).toEqual([false, 'unlimited\n']);
  },
);

it.each<[line: string, bytes: number]>([
  ['"ffmpeg.exe","4711","Console","1","12,345 K"\r\n', 12_345 * 1024],
  ['"ffmpeg.exe","4711","Console","1","12.345 K"', 12_345 * 1024],
  ['"ffmpeg.exe","4711","Console","1","12 345 Ko"', 12_345 * 1024],
  ['"ffmpeg.exe","4711","Console","1","12\u00a0345 КБ"', 12_345 * 1024],
  ['"ffmpeg.exe","4711","Console","1","1\u202f012\u202f345 Ko"', 1_012_345 * 1024],
  ['"ffmpeg.exe","4711","Console","1","12\ufffd345 \ufffd\ufffd"', 12_345 * 1024],
  ['INFO: No tasks are running which match the specified criteria.', 0],
])('Windows tells the memory of a program: %s', (line, bytes) => {
  expect(readTasklist(line)).toBe(bytes);
});

it('it is killed after its time, and where nobody waits any more', async () => {
  const run = setUp('exec sleep 30');
  expect((await run({ args: ['-version'] })).isDone).toBe(true);
  const begun = performance.now();
  expect((await run({ timeout: 500 })).isDone).toBe(false);
  expect((await run({ signal: AbortSignal.timeout(500) })).isDone).toBe(false);
  expect(performance.now() - begun).toBeLessThan(15_000);
});

onLinux('nothing of it is left where it is killed while it starts', async () => {
  const program = join(temporaryFolder(), 'program');
  writeFileSync(program, '#!/bin/sh\n[ "$1" = -version ] && exit\nsleep 60\n', { mode: 0o755 });
  const confined = createConfined(environment);
  expect((await confined({ program, args: ['-version'], file: program, timeout: 10_000 })).isDone).toBe(true);
  for (let delay = 0; delay < 30; delay += 1) {
    const signal = AbortSignal.timeout(delay);
    expect((await confined({ program, args: [], file: program, timeout: 10_000, signal })).isDone).toBe(false);
  }
  await expect.poll(() => running(program), patience).toEqual([]);
});

it('no more than some megabytes of its output are taken', async () => {
  const { isDone, stdout } = await setUp('exec cat /dev/zero')();
  expect(isDone).toBe(false);
  expect(stdout.length).toBeGreaterThan(0);
  expect(stdout.length).toBeLessThan(8 * 1024 ** 2);
});

onLinux('nor does a child of it run on where it writes more, on a machine that isolates nothing', async () => {
  const program = join(temporaryFolder(), 'program');
  const script = '/bin/sleep 60.0625 &\nexec /bin/cat /dev/zero';
  writeFileSync(program, `#!/bin/sh\n[ "$1" = -version ] && exit\n${script}\n`, { mode: 0o755 });
  const confined = createConfined({ PATH: temporaryFolder(), LANG: 'C' });
  const { isDone, stdout } = await confined({ program, args: [], file: program, timeout: 10_000 });
  expect([isDone, stdout.length > 0]).toEqual([false, true]);
  await expect.poll(() => running('60.0625')).toEqual([]);
});
