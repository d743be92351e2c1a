import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DeviceBinding, mostBindings } from '../../service/contract/peers.ts';
import { type Store, trim } from '../../service/devices/store.ts';
import { isPlausibleTime } from '../../service/domain/merge.ts';
import { temporaryFolder } from '../platform/store/folder.ts';
import { openStore } from '../support/store.ts';

const open = (dataDir: string, now: () => number = Date.now): Promise<Store> => openStore({ dataDir, now });

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

test('a forgotten device is known no longer, but its record stays, and it can be bound again', async () => {
  const dataDir = await temporaryFolder();
  let time = Date.UTC(2026, 0, 31, 8);
  const store = await open(dataDir, () => time);
  await store.devices.bind('4K7QM3X9FT2WD0AZ', 'Lobby left', 'lobby');
  const before = store.devices.list();
  // The clock was set back meanwhile.
  time -= 60_000;
  await store.devices.forget('4k7q m3x9 ft2w d0az');
  await store.close();

  const later = await open(dataDir, () => time);
  expect(later.devices.get('4K7QM3X9FT2WD0AZ')).toBeUndefined();
  const [record] = later.devices.list();
  expect(record).toMatchObject({ clientName: 'Lobby left', screenSlug: null, forgotten: true });
  expect(later.devices.list()).toHaveLength(1);
  // A box that was away has the binding still.
  expect(await later.devices.merge(before)).toEqual([]);
  expect(later.devices.get('4K7QM3X9FT2WD0AZ')).toBeUndefined();

  await later.devices.bind('4K7QM3X9FT2WD0AZ', 'Bar', 'bar');
  expect(later.devices.list()).toEqual([
    { deviceId: '4K7QM3X9FT2WD0AZ', clientName: 'Bar', screenSlug: 'bar', updatedAt: expect.any(String) },
  ]);
  expect((record?.updatedAt ?? '') < (later.devices.list()[0]?.updatedAt ?? '')).toBe(true);
  await later.close();
});

test('a device that another box has forgotten is forgotten here, and bound again by a newer binding', async () => {
  const [here, there] = [await open(await temporaryFolder()), await open(await temporaryFolder())];
  await here.devices.bind('d1', 'Lobby', 'lobby');
  await there.devices.merge(here.devices.list());
  await there.devices.forget('d1');
  expect(await here.devices.merge(there.devices.list())).toMatchObject([
    { binding: { deviceId: 'd1', forgotten: true }, before: { screenSlug: 'lobby' } },
  ]);
  expect(here.devices.get('d1')).toBeUndefined();
  expect(here.devices.digest()).toBe(there.devices.digest());
  await there.devices.rename('d1', 'Named again');
  await here.devices.merge(there.devices.list());
  expect(here.devices.get('d1')).toMatchObject({ clientName: 'Named again', screenSlug: null });
  await Promise.all([here.close(), there.close()]);
});

test('a record that the API would refuse is passed on alone, and a new binding of its device counts', async () => {
  const store = await open(await temporaryFolder());
  const plain = { deviceId: 'd1', clientName: 'Name', screenSlug: 'lobby', updatedAt: '2026-01-31T08:00:00.000Z' };
  for (const changes of [{ clientName: '' }, { screenSlug: 'no slug' }, { key: 'short' }, { more: 'x'.repeat(201) }]) {
    const deviceId = Object.keys(changes).join();
    const record = { ...plain, ...changes, deviceId };
    expect(await store.devices.merge([record])).toEqual([]);
    expect([store.devices.get(deviceId), store.devices.unread()]).toEqual([undefined, 1]);
    expect(store.devices.records()).toContainEqual(record);
    await store.devices.bind(deviceId, 'Bar', 'bar');
    expect([store.devices.get(deviceId)?.screenSlug, store.devices.unread()]).toEqual(['bar', 0]);
  }
  await store.close();
});

test('of too many devices the forgotten ones go first', () => {
  const device = (deviceId: string, changes: Partial<DeviceBinding> = {}): [string, DeviceBinding] => [
    deviceId,
    { deviceId, clientName: 'a', screenSlug: 'lobby', updatedAt: '2026-01-31T08:00:00.000Z', ...changes },
  ];
  const devices = new Map([
    device('forgotten', { forgotten: true, screenSlug: null, updatedAt: '2026-02-01T08:00:00.000Z' }),
    device('bound'),
    device('named', { screenSlug: null }),
  ]);
  const kept = (most: number) => [...trim(devices, most, (each) => each.deviceId === 'forgotten').keys()];
  expect(kept(2)).toEqual(['bound', 'named']);
  expect(kept(1)).toEqual(['bound']);
});

const ids = fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty', 'toString', '10', '9', 'a', 'A');

const change = fc.record({
  deviceId: ids,
  clientName: fc.string({ minLength: 1, maxLength: 64 }),
  screenSlug: fc.option(fc.constantFrom('lobby', 'bar', 'constructor'), { nil: null }),
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
        // Not after a clock that was years ahead and is right again.
        if (before !== undefined && isPlausibleTime(before.updatedAt, clock))
          expect(after > before.updatedAt).toBe(true);
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

const deviceAt = (at: number, deviceId: string, screenSlug: string | null): DeviceBinding => ({
  deviceId,
  clientName: 'Name',
  screenSlug,
  updatedAt: new Date(at).toISOString(),
});

test('where there are too many devices, those go that were never seen nor bound, and the oldest of them', () => {
  const all = [
    deviceAt(1, 'seen', null),
    deviceAt(2, 'seen and bound', 'lobby'),
    deviceAt(3, 'bound', 'lobby'),
    deviceAt(5, 'named later', null),
    deviceAt(4, 'named', null),
  ];
  const devices = new Map(all.map((device) => [device.deviceId, device]));
  const kept = (most: number) =>
    [...trim(devices, most, ({ deviceId }) => deviceId.startsWith('seen')).keys()].join(', ');
  expect(trim(devices, 5, () => false)).toBe(devices);
  expect(kept(4)).toBe('seen, seen and bound, bound, named later');
  expect(kept(3)).toBe('seen, seen and bound, bound');
  expect(kept(2)).toBe('seen, seen and bound');
  expect(kept(1)).toBe('seen and bound');
});

test('a box that was filled with invented devices accepts a new one, and keeps those that were there', async () => {
  let time = 1_000;
  const store = await open(await temporaryFolder(), () => time);
  const known = () => store.devices.list().map(({ deviceId }) => deviceId);
  await store.devices.bind('seen', 'Name', 'lobby');
  store.devices.followSightings((deviceId) => (deviceId === 'seen' ? '2026-01-31T08:00:00.000Z' : undefined));
  const junk = Array.from({ length: mostBindings - 1 }, (_, at) => deviceAt(2_000 + at, `junk-${at}`, 'lobby'));
  expect(await store.devices.merge(junk)).toHaveLength(mostBindings - 1);
  expect(store.faults()).toEqual([expect.stringContaining('devices are known')]);
  time = 1_000_000;
  await store.devices.bind('new', 'Name', 'lobby');
  await store.devices.rename('newer', 'Name');
  expect(known()).toHaveLength(mostBindings);
  expect(known()).toEqual(expect.arrayContaining(['seen', 'new', 'newer']));
  // One that is bound takes the place of one that is not.
  expect(await store.devices.merge([deviceAt(2, 'old', 'lobby')])).toHaveLength(1);
  expect(known()).not.toContain('newer');
  // What is older than everything here is no news, and nothing to tell others of.
  const digest = store.devices.digest();
  expect(await store.devices.merge([deviceAt(1, 'older', 'lobby')])).toEqual([]);
  expect(store.devices.digest()).toBe(digest);
  await store.close();
});
