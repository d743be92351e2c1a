/** Scripts of the service in the kiosk, whose own program is no Node.js: utility processes, held as its other children. */
import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createRunScript } from '../../main/scripts.ts';
import { UtilityProcess } from '../support/electron/utility.ts';
import { temporaryFolder } from '../support/service.ts';

const utility = ((...given: ConstructorParameters<typeof UtilityProcess>) => new UtilityProcess(...given)) as never;

const run = (
  source: string,
  { timeout = 20_000, resident = 2 ** 30, isIdle = false, signal = new AbortController().signal, fork = utility } = {},
) => {
  const folder = temporaryFolder();
  const script = join(folder, 'script.cjs');
  writeFileSync(script, source);
  return createRunScript(fork)({
    script,
    args: ['from', 'to'],
    env: { ONLY: 'this' },
    file: script,
    folder,
    timeout,
    resident,
    isIdle,
    signal,
  });
};

const endless = 'setInterval(() => {}, 1000);';

it('is done when the script ends with 0; it has its arguments and no other environment', async () => {
  const source = `const [, , ...args] = process.argv; process.exit(args.join() === 'from,to' && process.env.ONLY && !process.env.PATH ? 0 : 3);`;
  expect(await run(source)).toEqual({ isDone: true, stderr: '' });
});

it('says what the script complained about', async () => {
  const { isDone, stderr } = await run(`throw new Error('no picture in it');`);
  expect(isDone).toBe(false);
  expect(stderr).toContain('no picture in it');
});

it('gives way to all other programs where it is told to', async () => {
  const low = `setInterval(() => require('node:os').getPriority() === 19 && process.exit(0), 10);`;
  expect(await run(low, { isIdle: true })).toMatchObject({ isDone: true });
  const own = `process.exit(require('node:os').getPriority() === ${getPriority()} ? 0 : 3)`;
  expect(await run(own)).toMatchObject({ isDone: true });
});

it('ends a script that takes too long, too much memory, or is no longer wanted', async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 300);
  const greedy = `const kept = []; setInterval(() => kept.push(Buffer.alloc(2 ** 25, 1)), 20);`;
  const all = await Promise.all([
    run(endless, { timeout: 300 }),
    run(greedy, { resident: 2 ** 28 }),
    run(endless, { signal: stop.signal }),
    run(endless, { signal: AbortSignal.abort() }),
  ]);
  expect(all.map(({ isDone }) => isDone)).toEqual([false, false, false, false]);
});

it('goes on where V8 fails in a script, and where none can be launched', async () => {
  const failing = Object.assign(new EventEmitter(), { kill: () => true });
  const failed = run(endless, { fork: (() => failing) as never });
  failing.emit('error', 'FatalError', 'v8::ToLocalChecked', '{}');
  failing.emit('exit', 5);
  expect(await failed).toMatchObject({ isDone: false });

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const absent = { fork: (() => Object.assign(new EventEmitter(), { kill: () => false })) as never };
  const all = Promise.all([
    run(endless, { ...absent, timeout: 300 }),
    run(endless, { ...absent, signal: AbortSignal.abort() }),
  ]);
  await vi.advanceTimersByTimeAsync(6_000);
  const cut = { isDone: false, isCut: true, stderr: '' };
  expect(await all).toEqual([cut, cut]);
});
