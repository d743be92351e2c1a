import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../platform/store/folder.ts';
import { openStore } from '../support/store.ts';

test('the node id is made once, in a folder that is made where it is not there', async () => {
  const dataDir = join(await temporaryFolder(), 'a', 'b');
  const first = await openStore({ dataDir });
  expect(first.nodeId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  await first.close();
  const second = await openStore({ dataDir });
  expect(second.nodeId).toBe(first.nodeId);
  expect(second.faults()).toEqual([]);
  await second.close();
});

test('two boxes have two node ids', async () => {
  const stores = await Promise.all(
    [await temporaryFolder(), await temporaryFolder()].map((dataDir) => openStore({ dataDir })),
  );
  expect(new Set(stores.map(({ nodeId }) => nodeId)).size).toBe(2);
  await Promise.all(stores.map((store) => store.close()));
});

test('nobody else may read the state, and 4 MiB are set aside for it, written and not just promised', async () => {
  const dataDir = await temporaryFolder();
  const store = await openStore({ dataDir });
  await store.devices.bind('d1', 'Lobby', 'lobby');
  await store.close();
  expect((await readdir(dataDir)).sort()).toEqual(['state.json', 'state.json.prev', 'state.reserve']);
  if (process.platform !== 'win32') {
    expect((await stat(join(dataDir, 'state.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(dataDir, 'state.reserve'))).blocks * 512).toBeGreaterThanOrEqual(4 * 1024 * 1024);
  }
});

test('a damaged file is told as a fault', async () => {
  const dataDir = await temporaryFolder();
  await writeFile(join(dataDir, 'state.json'), '{"nodeId":');
  const store = await openStore({ dataDir });
  expect(store.faults()).toEqual([expect.stringMatching(/set aside as state\.json\.corrupt-\d{8}T\d{9}Z$/)]);
  await store.close();
});
