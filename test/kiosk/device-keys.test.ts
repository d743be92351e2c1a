/** The keys of the displays, in a real folder. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createDeviceKeys } from '../../main/device-keys.ts';
import { patience } from '../support/kiosk.ts';
import { temporaryFolder } from '../support/service.ts';
import { isProofOf } from './proof.ts';

const node = 'a3f1c9d2-0000-4000-8000-000000000001';
const other = 'a3f1c9d2-0000-4000-8000-000000000002';
const needs = { nodeId: node, time: 1_790_000_000_000 };

const open = (dataDir: string) => {
  const said: string[] = [];
  const hear = (_: unknown, message: string) => void said.push(message);
  const keys = createDeviceKeys({ log: { warn: hear, error: hear } as never, dataDir });
  return { ...keys, said, path: join(dataDir, 'kiosk-keys.json') };
};

const isSaved = (path: string, slots: number) =>
  expect
    .poll(() => existsSync(path) && Object.keys(JSON.parse(readFileSync(path, 'utf8')).keys).length, patience)
    .toBe(slots);

it('each display is a device of its own, the same one after a restart', async () => {
  const dataDir = temporaryFolder();
  const first = open(dataDir);
  const ids = [1, 2].map((slot) => first.idOf(slot, node));
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
  await isSaved(first.path, 2);
  if (process.platform !== 'win32') expect(statSync(first.path).mode & 0o777).toBe(0o600);
  const again = open(dataDir);
  expect([1, 2].map((slot) => again.idOf(slot, node))).toEqual(ids);
  expect(again.said).toEqual([]);
});

it('a box with another node id has other devices, whose keys replace those before', async () => {
  const dataDir = temporaryFolder();
  const keys = open(dataDir);
  const id = keys.idOf(1, node);
  await isSaved(keys.path, 1);
  const copy = open(dataDir);
  expect(copy.idOf(1, other)).not.toBe(id);
  await expect.poll(() => JSON.parse(readFileSync(copy.path, 'utf8')).nodeId, patience).toBe(other);
});

it('a damaged file is replaced, with a word in the log', async () => {
  const dataDir = temporaryFolder();
  const keys = open(dataDir);
  writeFileSync(keys.path, '{"nodeId":"a');
  expect(keys.idOf(1, node)).toMatch(/^\w{16}$/);
  expect(keys.said).toEqual(['the keys of the displays cannot be read, so new ones are made']);
  await isSaved(keys.path, 1);
});

it('a file that cannot be read now is not replaced: its keys are back once it can be', async () => {
  const dataDir = temporaryFolder();
  const keys = open(dataDir);
  const id = keys.idOf(1, node);
  await isSaved(keys.path, 1);
  await expect.poll(() => existsSync(`${keys.path}.prev`), patience).toBe(true);
  rmSync(`${keys.path}.prev`);
  const again = open(dataDir);
  // Reading a folder is an error of the system, and no word about the keys.
  renameSync(keys.path, `${keys.path}.away`);
  mkdirSync(keys.path);
  const meanwhile = again.idOf(1, node);
  expect([meanwhile === id, again.idOf(1, node) === meanwhile, again.isPending()]).toEqual([false, true, true]);
  expect(again.said).toEqual(['the keys of the displays cannot be read now; others serve meanwhile']);
  rmdirSync(keys.path);
  renameSync(`${keys.path}.away`, keys.path);
  expect([again.idOf(1, node), again.isPending()]).toEqual([id, false]);
  expect(open(dataDir).idOf(1, node)).toBe(id);
});

it('the copy serves where the file is damaged, lost or cannot be read, and the file is written again', async () => {
  const dataDir = temporaryFolder();
  const keys = open(dataDir);
  const id = keys.idOf(1, node);
  const copy = `${keys.path}.prev`;
  await isSaved(copy, 1);
  if (process.platform !== 'win32') expect(statSync(copy).mode & 0o777).toBe(0o600);

  writeFileSync(keys.path, '\0'.repeat(4096));
  const damaged = open(dataDir);
  expect(damaged.idOf(1, node)).toBe(id);
  expect(damaged.said).toEqual(['the keys of the displays cannot be read, so their copy is used']);
  await isSaved(keys.path, 1);
  expect(readdirSync(dataDir).filter((name) => /\.corrupt-\d{8}T\d{9}Z$/.test(name))).toHaveLength(1);

  rmSync(keys.path);
  expect(open(dataDir).idOf(1, node)).toBe(id);
  await isSaved(keys.path, 1);

  renameSync(keys.path, `${keys.path}.away`);
  mkdirSync(keys.path);
  expect(open(dataDir).idOf(1, node)).toBe(id);
});

it('keys of an earlier version get their copy', async () => {
  const dataDir = temporaryFolder();
  const keys = open(dataDir);
  const id = keys.idOf(1, node);
  await isSaved(`${keys.path}.prev`, 1);
  rmSync(`${keys.path}.prev`);
  expect(open(dataDir).idOf(1, node)).toBe(id);
  await isSaved(`${keys.path}.prev`, 1);
});

it('keys that could not be saved are saved with their next use', async () => {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  // The file of the keys is missing, and cannot be made.
  symlinkSync(join(folder, 'disk'), dataDir);
  const keys = open(dataDir);
  const id = keys.idOf(1, node);
  await expect.poll(keys.isPending, patience).toBe(true);
  mkdirSync(join(folder, 'disk'));
  expect(keys.idOf(1, node)).toBe(id);
  await isSaved(keys.path, 1);
  expect([open(dataDir).idOf(1, node), keys.isPending()]).toEqual([id, false]);
});

it('a proof is valid for its device and this box, made anew each time', () => {
  const keys = open(temporaryFolder());
  const id = keys.idOf(1, node);
  const proofs = [1, 2].map(() => keys.prove(1, id, needs, node));
  for (const proof of proofs) expect(isProofOf(id, node, proof)).toBe(true);
  expect(new Set(proofs).size).toBe(2);
  expect(isProofOf(id, other, proofs[0] ?? '')).toBe(false);
  expect(isProofOf(keys.idOf(2, node), node, proofs[0] ?? '')).toBe(false);
  // As an operator may write it.
  expect(isProofOf(id, node, keys.prove(1, id.toLowerCase().replace(/(.{4})/, '$1-'), needs, node))).toBe(true);
  expect(() => keys.prove(1, id, { ...needs, nodeId: other }, node)).toThrow('this box alone');
});
