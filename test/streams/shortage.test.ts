/** What becomes of a stream where the machine can start no process. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { defaultPlan } from '../../service/streams/plan.ts';
import { startRun } from '../../service/streams/run.ts';
import { parseSource } from '../../service/streams/source.ts';
import { noSalt } from './salt.ts';

const execute = promisify(execFile);
const worker = new URL('./shortage-worker.ts', import.meta.url).pathname;

test.skipIf(process.platform === 'win32')(
  'without descriptors it is tried again until there are some',
  async () => {
    const script = `ulimit -n 256; exec "$0" --import tsx "$1"`;
    const { stdout } = await execute('sh', ['-c', script, process.execPath, worker], { timeout: 60_000 });
    expect(stdout).toBe('it went on\n');
  },
  70_000,
);

test('what Node throws is the end of a run, as any other', async () => {
  const exited = vi.fn<(reason: string) => void>();
  const run = startRun(
    parseSource('rtmp://127.0.0.1/none', true, noSalt),
    defaultPlan,
    {
      ffmpegPath: 'no\0name',
      environment: { PATH: '', LANG: 'C' },
      deathSignalPrefix: [],
      orphans: { record: async () => undefined, forget: async () => undefined },
    },
    { segment: () => undefined, misfit: () => undefined, exited },
  );
  // Not before the session knows its run.
  expect(exited).not.toHaveBeenCalled();
  run.signal('SIGTERM');
  await vi.waitUntil(() => exited.mock.calls.length > 0, { timeout: 20_000 });
  expect(exited.mock.calls).toEqual([[expect.stringContaining('null bytes')]]);
});
