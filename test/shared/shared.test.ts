/** Shared records: they are stored, sealed where they must be, and equal on all boxes in the end. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { NamedRecord, SharedRecord } from '../../service/contract/shared.ts';
import { canonical } from '../../service/domain/canonical.ts';
import { createSharedExchange, pageOf } from '../../service/peers/shared-records.ts';
import { openText, sealText } from '../../service/platform/store/sealing.ts';
import { createShared, type RecordSet } from '../../service/shared/index.ts';
import { temporaryFolder } from '../support/service.ts';

type Note = SharedRecord & { updated_at: string; text: string };
const schema = z.looseObject({ id: z.string(), updated_at: z.string(), text: z.string() });
const rank = (note: Note): string => `${note.updated_at} ${canonical(note)}`;
const notes = (more: Partial<RecordSet<Note>> = {}): RecordSet<Note> => ({
  name: 'notes',
  schema,
  merge: (a, b) => (rank(a) >= rank(b) ? a : b),
  most: 1_000,
  protection: 'secret',
  ...more,
});
const note = (id: string, text: string, day = 1): Note => ({
  id,
  text,
  updated_at: `2026-01-${String(day).padStart(2, '0')}T08:00:00.000Z`,
});

const openBox = async (
  set = notes(),
  { dataDir = temporaryFolder(), now = () => Date.UTC(2026, 5, 1), isConfirmed = (): boolean => true } = {},
) => {
  const closers: (() => unknown)[] = [];
  const context = {
    dirs: { data: dataDir } as never,
    log: pino({ level: 'silent' }),
    now,
    reserve: { release: async () => {} },
    keep: <T extends { close(): unknown }>(resource: T): T => {
      closers.push(() => resource.close());
      return resource;
    },
  };
  const shared = await createShared(context);
  shared.followClock({ now, isEstablished: () => true, timeOfDay: now, isConfirmed });
  const close = async () => {
    for (const end of closers) await end();
  };
  onTestFinished(close);
  return { shared, set: await shared.open(set), dataDir, close };
};

const unsignedState = { seal: null, isSealed: false, bodySha256: null, boundSignature: null, isRelayed: false };
type Exchange = ReturnType<typeof createSharedExchange>;

/** Two boxes whose requests reach each other, through the bodies that they would send. */
const exchangeOf = (box: Awaited<ReturnType<typeof openBox>>, other: () => Exchange, seal = true): Exchange => {
  const options = { sharedSecret: 'a secret of the site' } as never;
  const call = async (path: string, body: unknown) => {
    const ctx = {
      state: { ...unsignedState, seal: seal ? {} : null, isSealed: seal },
      set: () => {},
      body: null as unknown,
    };
    const text = Buffer.from(JSON.stringify(body));
    const { routes } = other();
    const handler = routes[path as keyof typeof routes] as (ctx: unknown) => Promise<void>;
    await handler(Object.assign(ctx, requestOf(text)));
    return JSON.parse(JSON.stringify(ctx.body));
  };
  const asking = {
    ask: async (_: unknown, name: string, body: unknown) => ({
      ok: true,
      status: 200,
      address: '',
      body: await call(
        name === 'shared.differing' ? 'POST /api/peers/shared/differing' : 'POST /api/peers/shared',
        body,
      ),
    }),
    broadcast: async () => ({ answers: [], degraded: false }),
  };
  return createSharedExchange({ now: Date.now, options }, box.shared, asking as never, () => {});
};
const requestOf = (text: Buffer) => {
  const req = Object.assign(Readable.from([text]), { headers: { 'content-length': String(text.length) } });
  return { req, get: (name: string) => (name === 'Content-Length' ? String(text.length) : ''), is: () => null };
};

const pull = async (to: Awaited<ReturnType<typeof openBox>>, exchange: Exchange) => {
  const answer = await exchange.ask({ nodeId: 'other' } as never);
  if (answer.ok) await to.shared.merge(answer.body.shared);
};

describe('stored', () => {
  test('records and fields that this version does not know are kept over a restart', async () => {
    const box = await openBox();
    const stranger = { ...note('b', 'two'), colour: 'red' };
    await box.set.put(note('a', 'one'), stranger);
    await box.close();
    const again = await openBox(notes(), { dataDir: box.dataDir });
    expect(again.set.get('b')).toEqual(stranger);
    expect(again.set.list()).toHaveLength(2);
  });

  test('a sealed record is on the disk only encrypted, with a key that others of the machine cannot read', async () => {
    const marker = randomBytes(12).toString('hex');
    const box = await openBox(notes({ protection: 'sealed' }));
    await box.set.put(note('a', marker));
    await box.set.put(note('a', `${marker} again`, 2));
    const files = readdirSync(join(box.dataDir, 'shared'));
    expect(files).toContain('notes.json.prev');
    for (const name of files) expect(readFileSync(join(box.dataDir, 'shared', name), 'utf8')).not.toContain(marker);
    expect(statSync(join(box.dataDir, 'seal-key')).mode & 0o777).toBe(0o600);
    await box.close();
    const again = await openBox(notes({ protection: 'sealed' }), { dataDir: box.dataDir });
    expect(again.set.get('a')?.text).toBe(`${marker} again`);
    await again.close();
    writeFileSync(join(box.dataDir, 'seal-key'), 'damaged');
    const without = await openBox(notes({ protection: 'sealed' }), { dataDir: box.dataDir });
    expect(without.set.list()).toEqual([]);
    await without.close();
    // A key that cannot be read at all.
    rmSync(join(box.dataDir, 'seal-key'));
    mkdirSync(join(box.dataDir, 'seal-key'));
    const unread = await openBox(notes({ protection: 'sealed' }), { dataDir: box.dataDir });
    await unread.set.put(note('a', 'new'));
    expect(unread.set.get('a')?.text).toBe('new');
  });

  test('what was taken out of a sealed record is in no file any more, also where the process ended in between', async () => {
    const set = notes({ protection: 'sealed', isEmptied: ({ text }) => text === '' });
    const box = await openBox(set);
    const path = join(box.dataDir, 'shared', 'notes.json.prev');
    const textOf = (bytes: Buffer): string => {
      const key = Buffer.from(readFileSync(join(box.dataDir, 'seal-key'), 'utf8').trim(), 'base64url');
      return openText(key, /[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+/.exec(bytes.toString())?.[0] ?? '');
    };
    await box.set.put(note('a', 'a key'), note('b', 'another'));
    await box.set.put(note('b', 'still', 2));
    const earlier = readFileSync(path);
    expect(textOf(earlier)).toContain('a key');
    await box.set.put(note('a', '', 2));
    expect(textOf(readFileSync(path))).not.toContain('a key');
    await box.close();
    writeFileSync(path, earlier);
    await openBox(set, { dataDir: box.dataDir });
    expect(textOf(readFileSync(path))).not.toContain('a key');
  });

  test('what is sealed cannot be altered', () => {
    const key = randomBytes(32);
    const sealed = sealText(key, '{"a":1}');
    expect(openText(key, sealed)).toBe('{"a":1}');
    const parts = sealed.split('.');
    for (const [index, part] of parts.entries()) {
      const other = part === '' ? 'AA' : part.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
      expect(() => openText(key, parts.with(index, other).join('.'))).toThrow();
    }
    expect(() => openText(randomBytes(32), sealed)).toThrow();
    expect(() => openText(key, '')).toThrow();
  });

  test('a full set refuses new ids, and takes changes of those that are there', async () => {
    const box = await openBox(notes({ most: 2 }));
    await box.set.put(note('a', 'one'), note('b', 'two'));
    await expect(box.set.put(note('c', 'three'))).rejects.toThrow('There are 2 of the notes already.');
    await box.set.put(note('a', 'changed', 2));
    await box.shared.merge([['notes', note('d', 'of a peer')]]);
    expect(box.set.list().map(({ text }) => text)).toEqual(['changed', 'two']);
  });

  test('what is dated years ahead is not taken, and what is over is dropped', async () => {
    const isOver = ({ text }: Note): boolean => text === 'over';
    const box = await openBox(notes({ isOver }));
    await box.shared.merge([
      ['notes', { ...note('a', 'ahead'), updated_at: '2099-01-01T00:00:00.000Z' }],
      ['notes', note('b', 'over')],
      ['others', note('c', 'of an unknown set')],
      ['notes', { id: 'd' }],
    ]);
    expect(box.set.list()).toEqual([]);
    await box.set.put(note('a', 'one'));
    await box.set.put(note('a', 'over', 2));
    await box.set.put(note('b', 'two'));
    expect(box.set.list().map(({ id }) => id)).toEqual(['b']);
  });

  test('what is over by a clock that cannot be relied on stays, also against a box that has it as it was', async () => {
    const clock = { now: Date.UTC(2028, 0, 1), isConfirmed: false };
    const ended = note('a', 'over', 2);
    const isOver = ({ text }: Note, at: number): boolean => text === 'over' && at > Date.UTC(2027, 0, 1);
    const now = (): number => clock.now;
    const box = await openBox(notes({ isOver, most: 2 }), { now, isConfirmed: () => clock.isConfirmed });
    await box.set.put(ended);
    await box.set.put(note('b', 'one'));
    clock.now = Date.UTC(2026, 5, 1);
    await box.shared.merge([['notes', note('a', 'as it was')]]);
    expect(box.shared.sets(true)[0]?.list()).toContainEqual(ended);
    clock.now = Date.UTC(2028, 0, 1);
    // A full set drops it all the same.
    await box.set.put(note('c', 'two'));
    expect(box.set.list().map(({ id }) => id)).toEqual(['b', 'c']);
  });
});

describe('exchanged', () => {
  const pair = async (set = notes(), seal = true) => {
    const [a, b] = [await openBox(set), await openBox(set)];
    const one: Exchange = exchangeOf(a, () => two, seal);
    const two: Exchange = exchangeOf(b, () => one, seal);
    return { a, b, one, two };
  };

  test('two boxes that changed records apart hold the same ones, whoever asks first', async () => {
    const change = fc.record({ id: fc.constantFrom('a', 'b', 'c', '__proto__'), day: fc.integer({ min: 1, max: 28 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 8 }),
        fc.array(change, { maxLength: 8 }),
        async (first, second) => {
          const { a, b, one, two } = await pair();
          for (const { id, day } of first) await a.set.put(note(id, `one ${day}`, day));
          for (const { id, day } of second) await b.set.put(note(id, `two ${day}`, day));
          await pull(a, one);
          await pull(b, two);
          await pull(a, one);
          expect(one.digest()).toBe(two.digest());
          expect(canonical(a.set.list().toSorted((x, y) => (x.id < y.id ? -1 : 1)))).toBe(
            canonical(b.set.list().toSorted((x, y) => (x.id < y.id ? -1 : 1))),
          );
        },
      ),
      { numRuns: 15 },
    );
  });

  test('what was ended while a clock was years ahead stays so on all boxes once it is right, whoever asks first', async () => {
    const ending = notes({
      merge: (x, y) => ({ ...(rank(x) >= rank(y) ? x : y), over: x['over'] === true || y['over'] === true }),
      undated: (record) => ({ ...record, updated_at: new Date(0).toISOString() }),
    });
    const day = fc.integer({ min: 1, max: 28 });
    await fc.assert(
      fc.asyncProperty(day, fc.boolean(), fc.integer({ min: 11, max: 80 }), async (edited, asksFirst, years) => {
        let now = Date.UTC(2026, 5, 1);
        const [a, b] = [await openBox(ending, { now: () => now }), await openBox(ending)];
        const one: Exchange = exchangeOf(a, () => two);
        const two: Exchange = exchangeOf(b, () => one);
        await b.set.put({ ...note('a', 'made'), over: false });
        await pull(a, one);
        now = Date.UTC(2026 + years, 0, 1);
        await a.set.put({ ...note('a', 'ended'), updated_at: new Date(now).toISOString(), over: true });
        now = Date.UTC(2026, 5, 2);
        await b.set.put({ ...note('a', 'edited', edited), over: false });
        for (const [box, exchange] of asksFirst
          ? ([
              [a, one],
              [b, two],
            ] as const)
          : ([
              [b, two],
              [a, one],
            ] as const))
          await pull(box, exchange);
        await pull(a, one);
        await pull(b, two);
        expect([a.set.get('a')?.['over'], b.set.get('a')?.['over']]).toEqual([true, true]);
        expect(a.set.get('a')?.text).toBe(b.set.get('a')?.text);
        expect(one.digest()).toBe(two.digest());
      }),
      { numRuns: 15 },
    );
  });

  test('a sealed set is not told in an answer that is not encrypted, nor taken from a body that is not', async () => {
    const { a, b, one } = await pair(notes({ protection: 'sealed' }), false);
    await b.set.put(note('a', 'secret'));
    await pull(a, one);
    expect(a.set.list()).toEqual([]);
    const ctx = {
      state: unsignedState,
      ...requestOf(Buffer.from(JSON.stringify({ records: [['notes', note('x', 'y')]] }))),
    };
    await (one.routes['POST /api/peers/shared'] as (ctx: unknown) => Promise<void>)(ctx);
    expect(a.set.list()).toEqual([]);
  });

  test('long lists are exchanged a page at a time', async () => {
    const { a, b, one } = await pair(notes({ most: 20_000 }));
    await b.set.put(...Array.from({ length: 11_000 }, (_, index) => note(`n${index}`, 'x')));
    await pull(a, one);
    expect(a.set.list()).toHaveLength(11_000);
    const long: NamedRecord[] = ['a', 'b', 'c'].map((id) => ['notes', note(id, 'x'.repeat(3 * 1024 ** 2))]);
    const { records, isCut } = pageOf(long, null);
    expect([records.length, isCut]).toEqual([1, true]);
    expect(pageOf(long, ['notes', 'b']).records).toEqual([long[2]]);
  });
});

test('a record of a newer version is kept and offered as it is, the later one of an id, and not listed', async () => {
  const newer = (id: string, day: number): SharedRecord => ({ ...note(id, '', day), text: { rich: ['a'] } });
  const box = await openBox();
  const rich = newer('a', 3);
  const offered = ({ shared }: typeof box) => shared.sets(true).flatMap(({ list }) => list());
  const [old, young, long] = [note('a', 'old', 2), note('a', 'young', 4), { id: 'b', text: ['x'.repeat(9_000)] }];
  await box.set.put(old);
  await box.shared.merge([rich, long, newer('a', 1)].map((each) => ['notes', each]));
  expect([offered(box), box.set.list(), box.shared.unread()]).toEqual([[rich], [], 1]);
  await box.close();
  const again = await openBox(notes(), { dataDir: box.dataDir });
  await again.shared.merge([['notes', old]]);
  expect([offered(again), again.set.list()]).toEqual([[rich], []]);
  await again.set.put(young);
  expect([offered(again), again.set.list(), again.shared.unread()]).toEqual([[young], [young], 0]);
});

test('without dates what a newer version sent last stays, and a change over it is refused rather than lost', async () => {
  const undated = z.looseObject({ id: z.string(), text: z.string() });
  const box = await openBox({ ...notes(), schema: undated } as never);
  const offered = () => box.shared.sets(true).flatMap(({ list }) => list());
  for (const text of [['b'], ['a'], ['c']]) {
    await box.shared.merge([['notes', { id: 'a', text }]]);
    expect(offered()).toEqual([{ id: 'a', text }]);
  }
  expect(['a', 'b'].map((id) => [box.set.has(id), box.set.get(id)])).toEqual([
    [true, undefined],
    [false, undefined],
  ]);
  const change = { id: 'a', text: 'typed here' } as unknown as Note;
  await expect(box.set.put(change)).rejects.toMatchObject({ code: 'invalid_field', status: 400 });
  expect(offered()).toEqual([{ id: 'a', text: ['c'] }]);
});
