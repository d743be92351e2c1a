/** The compiled code that a start of the service leaves beside its bundle, for the next start. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/service.ts';
import { startHeadless } from './options/process.ts';

const dist = join(import.meta.dirname, '..', '..', 'dist');

const codesIn = (folder: string): [name: string, code: Buffer][] =>
  readdirSync(folder)
    .filter((name) => name.includes('.code'))
    .map((name) => [name, readFileSync(join(folder, name))]);

/** A folder like a build, in which modules are taken for what they are. */
const builtFolder = (): string => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  mkdirSync(join(folder, 'dist', 'service'), { recursive: true });
  return join(folder, 'dist', 'service');
};

test('the service leaves its code at the first start, and the next one takes it', async () => {
  const built = builtFolder();
  for (const part of ['service', 'renderer']) {
    cpSync(join(dist, part), join(built, '..', part), {
      recursive: true,
      filter: (path) => !/\.(?:code|map)$/.test(path),
    });
  }
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'content.json'), '{"screens":[{"name":"Lobby","slug":"lobby"}]}');
  const run = async (): Promise<[name: string, code: Buffer][]> => {
    const { child, ready, ended } = startHeadless({ SIGNAGE_DATA_DIR: dataDir }, join(built, 'headless.js'));
    expect((await fetch(`${await ready()}/api/screens/lobby/playlist`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    return codesIn(built);
  };

  const [first, ...others] = await run();
  expect(others).toEqual([]);
  expect(first?.[1].length).toBeGreaterThan(100_000);
  chmodSync(join(built, first?.[0] ?? ''), 0o400);
  // Of another run it would have other bytes.
  expect(await run()).toEqual([first]);
}, 60_000);

test('code is made again for another bundle or where it is damaged, and not by a start that fails', () => {
  const built = builtFolder();
  copyFileSync(join(dist, 'service', 'headless.js'), join(built, 'headless.js'));
  const bundle = join(built, 'headless.cjs');
  const body = 'return [1, 2, 3].map((each) => each * factor).join();'.repeat(20);
  writeFileSync(bundle, `const print = (factor) => { ${body} }; print(2); process.exit(Number(process.argv[2]));`);
  const run = (exitCode: number): [name: string, code: Buffer][] => {
    expect(spawnSync(process.execPath, [join(built, 'headless.js'), String(exitCode)]).status).toBe(exitCode);
    return codesIn(built);
  };

  expect(run(1)).toEqual([]);
  const made = run(0);
  expect(made).toHaveLength(1);
  const [name, code] = made[0] ?? ['', Buffer.alloc(0)];
  expect(run(0)).toEqual([[name, code]]);

  writeFileSync(join(built, name), code.subarray(0, code.length / 2));
  const [[repairedName, repaired] = [], ...rest] = run(0);
  expect(rest).toEqual([]);
  expect(repairedName).toBe(name);
  expect(repaired?.length).toBeGreaterThan(code.length * 0.9);

  appendFileSync(bundle, '\n');
  const other = run(0);
  expect(other).toHaveLength(1);
  expect(other[0]?.[0]).not.toBe(name);
});
