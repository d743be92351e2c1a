/** What a box without a fleet and without HTTPS loads. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const dist = join(import.meta.dirname, '..', '..', 'dist');

/** The files that a bundle loads at once, itself included: not those that it imports on demand. */
const loadedBy = (path: string, known = new Set<string>()): Set<string> => {
  if (known.has(path)) return known;
  known.add(path);
  for (const [, file = ''] of readFileSync(path, 'utf8').matchAll(/^(?:import|export)\b[^;'"]*["'](\.[^"']+)["']/gm)) {
    loadedBy(join(path, '..', file), known);
  }
  return known;
};

const hasNats = (path: string): boolean => readFileSync(path, 'utf8').includes('node_modules/@nats-io/');

/** A script in the coverage that V8 writes. In a bundle, a module that is imported on demand is a function of its path. */
interface Script {
  functions: { functionName: string; ranges: { count: number }[] }[];
}

/** The modules that a process has evaluated by the time it listens, as its engine counts their functions. */
const evaluatedInProcess = async (env: Record<string, string>): Promise<string[]> => {
  const folder = temporaryFolder();
  const box = spawn(process.execPath, [join(dist, 'service', 'headless.js')], {
    env: {
      ...{ PATH: process.env.PATH, NODE_V8_COVERAGE: folder, SIGNAGE_DATA_DIR: temporaryFolder() },
      ...{ SIGNAGE_HOST: '127.0.0.1', SIGNAGE_PORT: '0', ...env },
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  for await (const chunk of box.stdout) {
    printed += String(chunk);
    if (!printed.includes('listening on')) continue;
    box.kill('SIGTERM');
    break;
  }
  await once(box, 'exit');
  const reports = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return reports
    .flatMap((report) => (JSON.parse(report) as { result: Script[] }).result)
    .flatMap(({ functions }) => functions)
    .flatMap(({ functionName, ranges }) => ((ranges[0]?.count ?? 0) > 0 ? [functionName] : []));
};

test('the kiosk imports nothing of NATS at once', () => {
  const all = readdirSync(join(dist, 'shared')).filter((name) => name.endsWith('.js'));
  const withNats = all.map((name) => join(dist, 'shared', name)).filter(hasNats);
  expect(withNats.length).toBeGreaterThan(0);
  const loaded = loadedBy(join(dist, 'main', 'index.js'));
  expect(loaded.size).toBeGreaterThan(1);
  expect([...loaded].filter(hasNats)).toEqual([]);
});

test('a running box has evaluated NATS and X.509 only where they are configured', walk, async () => {
  const [alone, member] = [
    await evaluatedInProcess({}),
    await evaluatedInProcess({ SIGNAGE_FLEET_URL: 'nats://127.0.0.1:9' }),
  ];
  const isNats = (name: string): boolean => name.startsWith('node_modules/@nats-io/');
  expect(alone).toContain('node_modules/ws/lib/websocket.js');
  expect(alone.filter(isNats)).toEqual([]);
  expect(alone.filter((name) => /node_modules\/@peculiar|^service\/https\//.test(name))).toEqual([]);
  expect(member.filter(isNats)).not.toEqual([]);
});
