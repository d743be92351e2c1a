import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { seal } from '../../../service/platform/store/adapter.ts';
import { type Disk, systemDisk } from '../../../service/platform/store/disk.ts';
import { createDurable, type Durable } from '../../../service/platform/store/durable.ts';
import { temporaryFolder } from './folder.ts';
import { failure } from './simulated-disk.ts';

interface Word {
  word: string;
}

const now = (): number => Date.UTC(2026, 0, 31, 8);

const open = (folder: string, disk: Disk = systemDisk): Promise<Durable<Word>> =>
  createDurable({
    path: join(folder, 'word.json'),
    schema: z.object({ word: z.string() }),
    initial: { word: 'initial' },
    log: pino({ level: 'silent' }),
    disk,
    now,
  });

/** A folder in which `old` and then `new` were written. */
async function written(): Promise<{ folder: string; current: string }> {
  const folder = await temporaryFolder();
  const durable = await open(folder);
  await durable.update(() => ({ word: 'old' }));
  await durable.update(() => ({ word: 'new' }));
  return { folder, current: join(folder, 'word.json') };
}

const good = seal({ word: 'whole' }, 1, now());

test.each<[string, string | Buffer]>([
  ['empty', ''],
  ['null', 'null'],
  ['0', '0'],
  ['[]', '[]'],
  ['{}', '{}'],
  ['torn', good.subarray(0, good.length / 2)],
  ['zeros', Buffer.alloc(good.length)],
  ['of no format', good.toString().replace('"format":1', '"format":0')],
  ['of another shape', seal({ words: [] }, 1, now())],
  ['null in its wrap', seal(null, 1, now())],
  ['changed', good.toString().replace('whole', 'wrong')],
  ['not UTF-8', Buffer.from([0xff, 0xfe, 0x00])],
])('a file that is %s is set aside, and the one before it read', async (_, bad) => {
  const { folder, current } = await written();
  await writeFile(current, bad);

  const durable = await open(folder);

  expect(durable.read()).toEqual({ word: 'old' });
  const aside = 'word.json.corrupt-20260131T080000000Z';
  expect(await readFile(join(folder, aside))).toEqual(Buffer.from(bad));
  expect(durable.faults()).toEqual([`a state file that could not be read was set aside as ${aside}`]);

  await durable.update(() => ({ word: 'newer' }));
  expect(JSON.parse(await readFile(`${current}.prev`, 'utf8'))).toMatchObject({ body: { word: 'old' } });
  const again = await open(folder);
  expect(again.read()).toEqual({ word: 'newer' });
  expect(again.faults()).toEqual(durable.faults());
});

test.each([
  ['', false],
  [', also if somebody removes it then', true],
])(
  'on a disk that takes no writes a damaged file stays, and the one before it is read and kept%s',
  async (_, isRemoved) => {
    const { folder, current } = await written();
    await writeFile(current, 'bad');
    let isWritable = false;
    const disk: Disk = {
      ...systemDisk,
      rename: (from, to) => (isWritable ? rename(from, to) : Promise.reject(failure('EROFS'))),
    };

    const durable = await open(folder, disk);

    expect(durable.read()).toEqual({ word: 'old' });
    await expect(durable.update(() => ({ word: 'newer' }))).rejects.toMatchObject({ code: 'EROFS' });
    expect((await open(folder, disk)).read()).toEqual({ word: 'old' });

    isWritable = true;
    if (isRemoved) await rm(current);
    await durable.update(() => ({ word: 'newer' }));
    const aside = await readFile(`${current}.corrupt-20260131T080000000Z`, 'utf8').catch(() => null);
    expect(aside).toBe(isRemoved ? null : 'bad');
    expect(JSON.parse(await readFile(`${current}.prev`, 'utf8'))).toMatchObject({ body: { word: 'old' } });
    expect((await open(folder)).read()).toEqual({ word: 'newer' });
  },
);

test('a byte that flips costs at most one generation, and never makes another state', async () => {
  const { folder, current } = await written();
  const whole = await readFile(current);
  const previous = await readFile(`${current}.prev`);
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8(damaged.readUInt8(at) ^ flip, at);
      await writeFile(`${current}.new`, damaged);
      await rename(`${current}.new`, current);
      await rm(`${current}.prev`, { force: true });
      await writeFile(`${current}.prev`, previous);
      expect(['old', 'new']).toContain((await open(folder)).read().word);
    }),
    { numRuns: 100 },
  );
});

test('where neither can be read both are kept, and the state is the initial one', async () => {
  const { folder, current } = await written();
  await rm(`${current}.prev`);
  await writeFile(current, 'bad');
  await writeFile(`${current}.prev`, 'worse');

  const durable = await open(folder);

  expect(durable.read()).toEqual({ word: 'initial' });
  expect(durable.faults()).toHaveLength(2);
  expect(await readFile(`${current}.corrupt-20260131T080000000Z`, 'utf8')).toBe('bad');
  expect(await readFile(`${current}.prev.corrupt-20260131T080000000Z`, 'utf8')).toBe('worse');
});

test('a clock that stands still overwrites nothing that was set aside', async () => {
  const { folder, current } = await written();
  for (const bad of ['first', 'second', 'third']) {
    await writeFile(`${current}.new`, bad);
    await rename(`${current}.new`, current);
    await open(folder);
  }
  const aside = (await readdir(folder)).filter((name) => name.includes('.corrupt-'));
  const kept = await Promise.all(aside.map((name) => readFile(join(folder, name), 'utf8')));
  expect(kept.sort()).toEqual(['first', 'second', 'third']);
});

test('a file that is gone is read from the one before it', async () => {
  const { folder, current } = await written();
  await rm(current);
  expect((await open(folder)).read()).toEqual({ word: 'old' });
});

test('what interrupted writes left is swept, and nothing else', async () => {
  const { folder } = await written();
  const leftover = 'word.json.8c0a2f8e-6b1f-4a8e-9a55-0f9d6f1f2a11.tmp';
  const others = ['notes.tmp', 'word.json.notes.tmp', 'word.jsonx.8c0a2f8e-6b1f-4a8e-9a55-0f9d6f1f2a11.tmp'];
  for (const name of [leftover, ...others]) await writeFile(join(folder, name), 'half');

  await open(folder);

  expect((await readdir(folder)).sort()).toEqual(['word.json', 'word.json.prev', ...others].sort());
});

describe('a file of a newer version', () => {
  const newer = (body: unknown): string => JSON.stringify({ format: 2, seq: 9, sealed: 'in another way', body });

  test('is read where it can be, and kept beside the one that is written over it', async () => {
    const { folder, current } = await written();
    const bytes = newer({ word: 'newest', more: true });
    await writeFile(current, bytes);
    const durable = await open(folder);
    expect(durable.read()).toEqual({ word: 'newest' });
    await durable.update(() => ({ word: 'rolled back' }));
    expect(JSON.parse(await readFile(current, 'utf8'))).toMatchObject({ format: 1, seq: 10 });
    expect(await readFile(`${current}.format-2`, 'utf8')).toBe(bytes);
    expect(durable.faults()).toEqual([expect.stringContaining('word.json.format-2')]);
    expect((await open(folder)).read()).toEqual({ word: 'rolled back' });
  });

  test.each([
    ['of another shape', newer({ words: [] })],
    ['without a body', JSON.stringify({ format: 2 })],
    ['of the far future', JSON.stringify({ format: 7000, seq: 'many', body: 7 })],
  ])('that can not be read at all, %s, is not set aside either', async (_, bytes) => {
    const { folder, current } = await written();
    await writeFile(current, bytes);
    const durable = await open(folder);
    expect(durable.read()).toEqual({ word: 'old' });
    await durable.update(() => ({ word: 'later' }));
    const names = await readdir(folder);
    expect(names.filter((name) => name.includes('.corrupt-'))).toEqual([]);
    const [copy = ''] = names.filter((name) => name.includes('.format-'));
    expect(await readFile(join(folder, copy), 'utf8')).toBe(bytes);
  });
});
