/** From the start of a process to what it is for, beside a Node that does nothing. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { cpuOf, pinned, startServer } from './harness/process.ts';
import type { Report } from './harness/report.ts';
import { startBenchService } from './service.ts';

const command = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'index.js');
const said = "console.log('listening on http://127.0.0.1:' + this.address().port)";
/** What a server takes to say that it listens which answers everything with one text. */
const bare = `require('node:http').createServer((_, answer) => answer.end('{}'))
  .listen(0, '127.0.0.1', function () { ${said} })`;
const koa = `const koa = new (require('koa'))(); koa.use((ctx) => { ctx.body = '{}' });
  koa.listen(0, '127.0.0.1', function () { ${said} })`;

const START_REASON =
  "By the profile, with V8's code of an earlier start: evaluating the schemas of zod takes 25 %, Node's own start 17 %, V8's reading of the code 10 %, scavenges of the young heap 11 %, Node's modules that are not in its own snapshot 9 %, and opening the modules with all other libraries the rest. No startup snapshot of V8 was made: building one stops in node:http of Node 20.";

const run = (args: readonly string[]) => async (): Promise<number> => {
  const [program, all] = pinned('server', [process.execPath, ...args]);
  const startedAt = performance.now();
  spawnSync(program, all, { stdio: 'ignore' });
  return performance.now() - startedAt;
};

const startOf = (source: string) => async (): Promise<[ms: number, used: number]> => {
  const startedAt = performance.now();
  const server = await startServer([process.execPath, '-e', source]);
  const elapsed = performance.now() - startedAt;
  const used = cpuOf(server.pid);
  await server.stop();
  return [elapsed, used];
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
      'node:http': startOf(bare),
      Koa: startOf(koa),
    },
    { goals: [{ against: 'node:http', most: 150 / 53, reason: START_REASON }] },
  );
  await compare('start of the command line', 'ms', {
    'signage --version': run([command, '--version']),
    'node -e 0': run(['-e', '0']),
  });
};
