/** From the start of a process to what it is for, beside a Node that does nothing. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { cpuOf, pinned, startServer } from './harness/process.ts';
import type { Report } from './harness/report.ts';
import { startBenchService } from './service.ts';

const command = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'index.js');
/** What a bare server of Node takes to say that it listens. */
const bare = `require('node:http').createServer().listen(0, '127.0.0.1', function () {
  console.log('listening on http://127.0.0.1:' + this.address().port) })`;

const START_REASON =
  "By the profile, with V8's code of an earlier start: Node's own start a quarter, evaluating the bundle a third (half of it the schemas of zod), scavenges of the young heap a sixth, opening the modules the rest; the child that holds the lock of the folder takes 9 ms.";

const run = (args: readonly string[]) => async (): Promise<number> => {
  const [program, all] = pinned('server', [process.execPath, ...args]);
  const startedAt = performance.now();
  spawnSync(program, all, { stdio: 'ignore' });
  return performance.now() - startedAt;
};

export const benchStart = async ({ compare }: Report): Promise<void> => {
  const units = ['ms', 'ms of processor'];
  await compare(
    'from the start of the process to listening',
    units,
    {
      'this service': async () => {
        const service = await startBenchService();
        const used = cpuOf(service.pid);
        await service.stop();
        return [service.startMs, used];
      },
      'node:http': async () => {
        const startedAt = performance.now();
        const server = await startServer([process.execPath, '-e', bare]);
        const elapsed = performance.now() - startedAt;
        const used = cpuOf(server.pid);
        await server.stop();
        return [elapsed, used];
      },
    },
    { goals: [{ against: 'node:http', most: 150 / 53, reason: START_REASON }] },
  );
  await compare('start of the command line', 'ms', {
    'signage --version': run([command, '--version']),
    'node -e 0': run(['-e', '0']),
  });
};
