/** Several benches, each in a process of its own: one that fails or hangs takes nothing of the others along. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from './figures.ts';

/** Ends what a bench that was broken off has left running. */
const endGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left.
  }
};

/** @param args of `npm run bench` for each @returns the runs that came to an end, by whatever they measured */
export const runApart = async (names: readonly string[], args: readonly string[]): Promise<Run[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-bench-'));
  const runs: Run[] = [];
  for (const name of names) {
    const json = join(folder, `${name}.json`);
    const command = [...process.execArgv, process.argv[1] ?? '', name, ...args, '--json', json];
    const startedAt = performance.now();
    const child = spawn(process.execPath, command, { stdio: 'inherit', detached: true });
    const interrupt = (): void => {
      endGroup(child.pid ?? 0);
      process.exit(1);
    };
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
    const [code] = (await once(child, 'exit')) as [number | null];
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    endGroup(child.pid ?? 0);
    console.log(`  ${name} took ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    if (code !== 0) process.exitCode = 1;
    try {
      runs.push(JSON.parse(readFileSync(json, 'utf8')) as Run);
    } catch {
      console.error(`${name} ended without figures`);
    }
  }
  rmSync(folder, { recursive: true, force: true });
  return runs;
};
