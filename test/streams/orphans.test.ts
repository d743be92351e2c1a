import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOrphans, readProc, readPs } from '../../service/streams/orphans.ts';
import { temporaryFolder } from '../support/service.ts';
import { repeats, walks } from '../support/soak.ts';
import { end, publish, startRtmpServer } from './publishing.ts';
import { environment } from './server.ts';
import { describeStreams, ffmpegsOf, patience } from './setup.ts';

describe('what a process is told by', () => {
  it('on Linux', () => {
    const numbers = Array.from({ length: 50 }, (_, n) => n + 3);
    expect(readProc(`4711 (a) b (c) ${numbers.join(' ')}`, 'ffmpeg\0-i\0a b\0')).toEqual({
      startTime: '22',
      commandLine: 'ffmpeg -i a b ',
    });
  });

  it('on macOS', () => {
    expect(readPs('Sat Jan 31 08:00:00 2026     ffmpeg -i a  b\n')).toEqual({
      startTime: 'Sat Jan 31 08:00:00 2026',
      commandLine: 'ffmpeg -i a  b',
    });
  });
});

const log = pino({ level: 'silent' });
const runId = 'fedcba9876543210';
const isAlive = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

/** A process that does nothing, with these words in its command line. */
const idle = async (...words: string[]) => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)', '--', ...words]);
  onTestFinished(() => end(child));
  await once(child, 'spawn');
  return { child, pid: child.pid as number };
};

const prepare = () => {
  const dataDir = temporaryFolder();
  const orphans = createOrphans({ log, options: { dataDir, childEnvironment: environment } });
  const file = join(dataDir, 'streams', `${runId}.json`);
  const change = (more: object) =>
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...more }));
  const files = () => readdirSync(join(dataDir, 'streams'));
  return { dataDir, orphans, file, change, files };
};

describe('a sweep', () => {
  it('finds nothing where nothing was', async () => {
    expect(await prepare().orphans.sweep()).toBe(0);
  });

  it('kills what was written down', async () => {
    const { orphans, files } = prepare();
    const { child, pid } = await idle(runId);
    await orphans.record(pid, runId);
    const ended = once(child, 'exit');
    expect(await orphans.sweep()).toBe(1);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(files()).toEqual([]);
  });

  it('does not kill what has ended since, or was forgotten', async () => {
    const { orphans, files } = prepare();
    const { child, pid } = await idle(runId);
    await orphans.record(pid, runId);
    await orphans.forget(runId);
    expect(files()).toEqual([]);
    await orphans.record(pid, runId);
    await end(child);
    expect(await orphans.sweep()).toBe(0);
    expect(files()).toEqual([]);
  });

  it('does not touch a stranger of the same number', async () => {
    const { orphans, change } = prepare();
    const { child, pid } = await idle(runId);
    await orphans.record(pid, runId);
    change({ startTime: '1' });
    expect(await orphans.sweep()).toBe(0);
    expect(isAlive(child)).toBe(true);
  });

  it('does not touch a process without our mark', async () => {
    const { orphans } = prepare();
    const { child, pid } = await idle('0123456789abcdef');
    await orphans.record(pid, runId);
    expect(await orphans.sweep()).toBe(0);
    expect(isAlive(child)).toBe(true);
  });

  it.each(['', '{', '[]', '{"pid":1,"startTime":"1","runId":"fedcba9876543210"}', '{"pid":-1}', '\0'])(
    'passes over a file with %j in it',
    async (text) => {
      const { dataDir, orphans, file, files } = prepare();
      mkdirSync(join(dataDir, 'streams'));
      writeFileSync(file, text);
      expect(await orphans.sweep()).toBe(0);
      expect(files()).toEqual([]);
    },
  );
});

/** More rounds for a long run. */
const rounds = repeats(1, 50, 'SIGNAGE_TEST_STREAM_ROUNDS');

/** Runs the service in a process of its own until the stream is live. */
const startService = async (dataDir: string, source: string, mode: 'death signal' | 'no death signal') => {
  const worker = new URL('./worker.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', worker, dataDir, source, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => end(child));
  await once(child.stdout, 'data');
  return child;
};

describeStreams('after the service was killed with a stream running', () => {
  it.sequential.each<'death signal' | 'no death signal'>([
    'death signal',
    ...walks<'no death signal'>('no death signal'),
  ])('no ffmpeg is left, and nothing else is gone (%s)', { timeout: 30_000 + 20_000 * rounds }, async (mode) => {
    const dataDir = temporaryFolder();
    const server = await startRtmpServer();
    onTestFinished(server.close);
    const address = `${server.url}/camera`;
    onTestFinished(publish(address).close);
    const { child: stranger } = await idle(address, 'pipe:1');
    for (let round = 0; round < rounds; round += 1) {
      const service = await startService(dataDir, address, mode);
      await end(service, 'SIGKILL');
      await createOrphans({ log, options: { dataDir, childEnvironment: environment } }).sweep();
      await vi.waitUntil(() => ffmpegsOf(address).length === 1, patience);
    }
    expect(ffmpegsOf(address)).toEqual([stranger.pid]);
    expect(isAlive(stranger)).toBe(true);
  });
});
