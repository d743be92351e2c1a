import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { repeats } from '../../support/soak.ts';
import { openStore } from '../../support/store.ts';
import { temporaryFolder } from './folder.ts';

const rounds = repeats(6, 500, 'SIGNAGE_TEST_KILLS');

/** Starts the worker, kills it at a random moment, its start included, and gives what it printed. */
async function runAndKill(
  worker: string,
  dataDir: string,
  from: number,
  when: 'at any time' | 'when it writes',
): Promise<string> {
  const child = spawn(process.execPath, [worker, dataDir, String(from)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)));
  let output = '';
  const writing = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      resolve();
    });
  });
  if (when === 'when it writes') await Promise.race([writing, closed]);
  await pause(Math.random() * 300);
  child.kill('SIGKILL');
  expect(await closed).toBe('SIGKILL');
  return output;
}

test(`every acknowledged binding outlives kill -9, ${rounds} times`, { timeout: 60_000 + rounds * 5000 }, async ({
  annotate,
}) => {
  const folder = await temporaryFolder();
  const dataDir = join(folder, 'data');
  const worker = join(folder, 'worker.mjs');
  await build({
    entryPoints: [new URL('kill-worker.ts', import.meta.url).pathname],
    outfile: worker,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const acknowledged = new Map<string, number>();
  const nodeIds = new Set<string>();
  let acknowledgements = 0;
  let interrupted = 0;
  let highest = 0;

  for (let round = 0; round < rounds; round += 1) {
    const output = await runAndKill(worker, dataDir, highest, round % 2 ? 'at any time' : 'when it writes');
    for (const [, deviceId = '', count] of output.matchAll(/^(\S+) (\d+)\n/gm)) {
      acknowledged.set(deviceId, Number(count));
      highest = Math.max(highest, Number(count) + 1);
      acknowledgements += 1;
    }
    const left = await readdir(dataDir).catch(() => []);
    interrupted += left.filter((name) => name.endsWith('.tmp')).length;
    const store = await openStore({ dataDir });
    nodeIds.add(store.nodeId);
    expect(store.faults()).toEqual([]);
    const lost = [...acknowledged].filter(([id, count]) => !(Number(store.devices.get(id)?.clientName) >= count));
    expect(lost).toEqual([]);
    await store.close();
  }

  expect(acknowledgements).toBeGreaterThanOrEqual(rounds / 2);
  expect(nodeIds.size).toBe(1);
  await annotate(`${acknowledgements} acknowledged bindings, ${interrupted} writes interrupted`);
});
