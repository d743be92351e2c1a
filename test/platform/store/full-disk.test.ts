import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { orderRoot } from '../../../main/updates/installers.ts';
import { openLocalToken } from '../../../service/auth/index.ts';
import { localTokenFile } from '../../../service/contract/headers.ts';
import { systemDisk } from '../../../service/platform/store/disk.ts';
import { createDurable, type Durable } from '../../../service/platform/store/durable.ts';
import { createReserve, type Reserve, reserveFile } from '../../../service/platform/store/reserve.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { openStore } from '../../support/store.ts';
import { createSimulatedDisk } from './simulated-disk.ts';

const log = pino({ level: 'silent' });
const path = '/data/state.reserve';

describe('on a simulated disk of 10,000 bytes with a reserve of 1,000', () => {
  const setUp = async (): Promise<{
    simulated: ReturnType<typeof createSimulatedDisk>;
    reserve: Reserve;
    durable: Durable<{ text: string }>;
    fill: (leaving?: number) => Promise<void>;
  }> => {
    const simulated = createSimulatedDisk(10_000);
    const { disk } = simulated.boot();
    const reserve = createReserve({ path, disk, log, bytes: 1000 });
    const durable = await createDurable({
      path: '/data/state.json',
      schema: z.object({ text: z.string() }),
      initial: { text: '' },
      log,
      reserve,
      disk,
      now: Date.now,
    });
    const fill = async (leaving = 0): Promise<void> => {
      const handle = await disk.open('/data/filler', 'w', 0o600);
      await handle.write(Buffer.alloc((await disk.free('/data')) - leaving), 0);
    };
    return { simulated, reserve, durable, fill };
  };

  test('the reserve lets the state be written when the disk is full', async () => {
    const { simulated, reserve, durable, fill } = await setUp();
    await reserve.take();
    expect(simulated.read(path)).toHaveLength(1000);
    await fill();
    await durable.update(() => ({ text: 'a binding' }));
    expect(durable.read()).toEqual({ text: 'a binding' });
    expect(simulated.names()).not.toContain('state.reserve');
    expect(reserve.faults()).toHaveLength(1);
  });

  test('when the reserve is used up too, the change is refused and nothing lost', async () => {
    const { simulated, reserve, durable, fill } = await setUp();
    await reserve.take();
    await fill();
    await durable.update(() => ({ text: 'kept' }));
    const refused = durable.update(() => ({ text: 'x'.repeat(2000) }));
    await expect(refused).rejects.toMatchObject({ code: 'insufficient_storage' });
    expect(durable.read()).toEqual({ text: 'kept' });
    expect(simulated.read('/data/state.json').toString()).toContain('kept');
    expect(simulated.names().filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('the reserve is taken again when there is room, and not before', async () => {
    const { simulated, reserve, fill } = await setUp();
    await fill(1500);
    await reserve.take();
    expect(simulated.names()).not.toContain('state.reserve');
    expect(reserve.faults()).toHaveLength(1);
    await simulated.boot().disk.unlink('/data/filler');
    await reserve.take();
    expect(simulated.read(path)).toHaveLength(1000);
    expect(reserve.faults()).toEqual([]);
  });

  test('a release waits for a reserve that is being taken', async () => {
    const { simulated, reserve } = await setUp();
    await Promise.all([reserve.take(), reserve.release()]);
    expect(simulated.names()).not.toContain('state.reserve');
  });

  test('a reserve that was cut short is made whole, and one that is whole left alone', async () => {
    const { simulated, reserve } = await setUp();
    const handle = await simulated.boot().disk.open(path, 'w', 0o600);
    await handle.write(Buffer.alloc(400), 0);
    await reserve.take();
    const whole = simulated.read(path);
    expect(whole).toHaveLength(1000);
    await createReserve({ path, disk: simulated.boot().disk, log, bytes: 1000 }).take();
    expect(simulated.read(path)).toBe(whole);
  });

  test('a disk that fills while the reserve is being taken keeps nothing of it', async () => {
    const simulated = createSimulatedDisk(10_000);
    const { disk } = simulated.boot({ fail: (operation) => (operation === 'sync' ? 'ENOSPC' : undefined) });
    const reserve = createReserve({ path, disk, log, bytes: 1000 });
    await reserve.take();
    expect(simulated.names()).toEqual([]);
    expect(reserve.faults()).toHaveLength(1);
  });
});

const mounted = mountSmallDisk(12);

describe.skipIf(mounted === null)('on a real disk of 12 MiB (needs the right to mount one)', () => {
  const dataDir = mounted as string;
  const empty = async (): Promise<void> => {
    for (const name of await readdir(dataDir)) await rm(join(dataDir, name), { recursive: true });
  };
  beforeEach(empty);

  const fill = async (name: string): Promise<void> => {
    const chunk = Buffer.alloc(4096);
    const grow = async (): Promise<never> => {
      for (;;) await appendFile(join(dataDir, name), chunk);
    };
    await expect(grow()).rejects.toMatchObject({ code: 'ENOSPC' });
  };

  test('a full disk is outlived by every acknowledged binding', async () => {
    const store = await openStore({ dataDir });
    await expect.poll(() => readdir(dataDir)).toContain('state.reserve');
    await store.devices.bind('first', 'First', 'lobby');
    await fill('uploads');

    await store.devices.bind('second', 'Second', 'lobby');
    expect(await readdir(dataDir)).not.toContain('state.reserve');
    expect(store.faults()).toHaveLength(1);

    await fill('logs');
    await expect(store.devices.bind('third', 'Third', 'lobby')).rejects.toMatchObject({ status: 507 });
    expect(store.devices.list().map(({ deviceId }) => deviceId)).toEqual(['first', 'second']);
    await store.close();

    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const again = await openStore({ dataDir });
    expect(again.nodeId).toBe(store.nodeId);
    expect(again.devices.list()).toEqual(store.devices.list());
    await expect.poll(() => again.faults()).toHaveLength(1);
    await rm(join(dataDir, 'uploads'));
    await rm(join(dataDir, 'logs'));
    await again.devices.bind('third', 'Third', 'lobby');
    expect(again.devices.get('third')?.screenSlug).toBe('lobby');
    vi.advanceTimersByTime(60_000);
    await expect.poll(() => again.faults()).toEqual([]);
    expect(await readdir(dataDir)).toContain('state.reserve');
    await again.close();
  });

  test('the box itself can still be told what to do: its token and orders to root are written', async () => {
    const reserve = createReserve({ path: join(dataDir, reserveFile), disk: systemDisk, log, bytes: 1024 * 1024 });
    for (const write of [
      async () => {
        await openLocalToken({ dirs: { data: dataDir }, log, reserve });
        return readFile(join(dataDir, localTokenFile), 'utf8');
      },
      async () => {
        await orderRoot(join(dataDir, 'updates'), 'reboot');
        return readFile(join(dataDir, 'updates', 'order'), 'utf8');
      },
    ]) {
      await empty();
      await reserve.take();
      expect(reserve.faults()).toEqual([]);
      await fill('filler');
      expect(await write()).toMatch(/^(reboot\n|[\w-]{43})$/);
      expect(await readdir(dataDir)).not.toContain(reserveFile);
    }
  });

  test('a first start on a full disk works, and says so', async () => {
    await writeFile(join(dataDir, 'filler'), '');
    await fill('filler');
    const store = await openStore({ dataDir });
    expect(store.nodeId).toMatch(/^[0-9a-f-]{36}$/);
    expect(store.faults()).not.toEqual([]);
    await rm(join(dataDir, 'filler'));
    await store.devices.bind('first', 'First', 'lobby');
    await store.close();
    const again = await openStore({ dataDir });
    expect(again.nodeId).toBe(store.nodeId);
    await again.close();
  });
});
