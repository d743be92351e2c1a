import fc from 'fast-check';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createStore, type Store } from '../../service/store/store.ts';
import { temporaryFolder } from './folder.ts';

const open = (dataDir: string, now: () => number = Date.now): Promise<Store> =>
  createStore({ dataDir, log: pino({ level: 'silent' }), now });

test('a binding is kept, replaced, and renamed', async () => {
  const dataDir = await temporaryFolder();
  const at = Date.UTC(2026, 0, 31, 8);
  const store = await open(dataDir, () => at);
  await store.devices.bind('d1', 'Lobby left', 'lobby');
  expect(store.devices.get('d1')).toEqual({
    deviceId: 'd1',
    clientName: 'Lobby left',
    screenSlug: 'lobby',
    updatedAt: '2026-01-31T08:00:00.000Z',
  });
  await store.devices.bind('d1', 'Bar', 'bar');
  await store.devices.rename('d1', 'The bar');
  expect(store.devices.get('d1')).toMatchObject({ clientName: 'The bar', screenSlug: 'bar' });
  await store.devices.rename('d2', 'Not bound yet');
  expect(store.devices.get('d2')).toMatchObject({ clientName: 'Not bound yet', screenSlug: null });
  await store.devices.bind('d2', 'Bound', 'lobby');
  expect(store.devices.get('d2')).toMatchObject({ clientName: 'Bound', screenSlug: 'lobby' });
  expect(store.devices.get('d3')).toBeUndefined();
  await store.close();
});

const ids = fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty', 'toString', '10', '9', 'a', 'Ä');

const change = fc.record({
  deviceId: ids,
  clientName: fc.string({ minLength: 1, maxLength: 64 }),
  screenSlug: fc.option(fc.constantFrom('lobby', 'bar', '__proto__'), { nil: null }),
  clock: fc.integer({ min: 0, max: Date.UTC(2100, 0) }),
  reopen: fc.boolean(),
});

test('any changes under any ids, with any clock and restarts between them, make what a map makes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
      const dataDir = await temporaryFolder();
      const expected = new Map<string, { clientName: string; screenSlug: string | null }>();
      let time = 0;
      let store = await open(dataDir, () => time);
      for (const { deviceId, clientName, screenSlug, clock, reopen } of changes) {
        time = clock;
        const before = store.devices.get(deviceId);
        if (screenSlug === null) await store.devices.rename(deviceId, clientName);
        else await store.devices.bind(deviceId, clientName, screenSlug);
        expected.set(deviceId, { clientName, screenSlug: screenSlug ?? expected.get(deviceId)?.screenSlug ?? null });
        const after = store.devices.get(deviceId)?.updatedAt ?? '';
        expect(Date.parse(after)).toBeGreaterThanOrEqual(clock);
        expect(before === undefined || after > before.updatedAt).toBe(true);
        if (reopen) {
          await store.close();
          store = await open(dataDir, () => time);
        }
      }
      const kept = store.devices
        .list()
        .map(({ deviceId, clientName, screenSlug }) => [deviceId, { clientName, screenSlug }]);
      expect(kept).toEqual([...expected]);
      await store.close();
    }),
    { numRuns: 40 },
  );
});
