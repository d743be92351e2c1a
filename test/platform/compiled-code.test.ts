/** The compiled code that a start of the service leaves beside its bundle, for the next start. */
import { appendFileSync, chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/service.ts';
import { startHeadless } from './options/process.ts';

const dist = join(import.meta.dirname, '..', '..', 'dist');

test('is made by the first start, not made again, and made again for another bundle or where it is damaged', async () => {
  const folder = temporaryFolder();
  cpSync(dist, join(folder, 'dist'), { recursive: true, filter: (path) => !/\.(?:code|map)$/.test(path) });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const built = join(folder, 'dist', 'service');
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'content.json'), '{"screens":[{"name":"Lobby","slug":"lobby"}]}');
  const run = async (): Promise<[name: string, code: Buffer]> => {
    const { child, ready, ended } = startHeadless({ SIGNAGE_DATA_DIR: dataDir }, join(built, 'headless.js'));
    expect((await fetch(`${await ready()}/api/screens/lobby/playlist`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const names = readdirSync(built).filter((name) => name.includes('.code'));
    expect(names).toHaveLength(1);
    return [names[0] ?? '', readFileSync(join(built, names[0] ?? ''))];
  };

  const [name, code] = await run();
  expect(code.length).toBeGreaterThan(100_000);
  chmodSync(join(built, name), 0o400);
  expect(await run()).toEqual([name, code]);

  chmodSync(join(built, name), 0o600);
  writeFileSync(join(built, name), code.subarray(0, code.length / 2));
  const [again, repaired] = await run();
  expect(again).toBe(name);
  expect(repaired.length).toBeGreaterThan(100_000 + code.length / 2);

  appendFileSync(join(built, 'headless.cjs'), '\n');
  expect((await run())[0]).not.toBe(name);
}, 120_000);
