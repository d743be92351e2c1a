import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { systemDisk } from '../../../service/platform/store/disk.ts';
import { createDurable, type Durable } from '../../../service/platform/store/durable.ts';
import { createSimulatedDisk, type Life } from './simulated-disk.ts';

interface Numbers {
  numbers: number[];
}

const add =
  (number: number) =>
  ({ numbers }: Numbers): Numbers => ({ numbers: [...numbers, number] });

/** A durable list of numbers, on a disk whose steps fail as `life` says. */
async function numbersOn(
  simulated: ReturnType<typeof createSimulatedDisk>,
  life: Life = {},
): Promise<Durable<Numbers>> {
  return createDurable({
    path: '/data/numbers.json',
    schema: z.object({ numbers: z.array(z.int()) }),
    initial: { numbers: [] },
    log: pino({ level: 'silent' }),
    disk: simulated.boot(life).disk,
    now: Date.now,
  });
}

test('changes of the same breath share one write, in order', async () => {
  let writes = 0;
  const simulated = createSimulatedDisk();
  const durable = await numbersOn(simulated, {
    fail: (operation) => {
      if (operation === 'syncFolder') writes += 1;
      return undefined;
    },
  });
  writes = 0;
  await Promise.all([1, 2, 3, 4, 5].map((number) => durable.update(add(number))));
  expect(durable.read().numbers).toEqual([1, 2, 3, 4, 5]);
  expect(writes).toBe(1);
});

test('changes that arrive during a write share the next one', async () => {
  let generations = 0;
  const updates: Promise<void>[] = [];
  const durable = await numbersOn(createSimulatedDisk(), {
    fail: (operation) => {
      if (operation !== 'syncFolder') return undefined;
      generations += 1;
      if (generations === 2) for (const number of [2, 3, 4]) updates.push(durable.update(add(number)));
      return undefined;
    },
  });
  await durable.update(add(1));
  expect(durable.read().numbers).toEqual([1]);
  await Promise.all(updates);
  expect(durable.read().numbers).toEqual([1, 2, 3, 4]);
  expect(generations).toBe(3);
});

test('readers see a change only when the last step of its write is done', async () => {
  const seen: number[][] = [];
  let durable: Durable<Numbers> | undefined;
  durable = await numbersOn(createSimulatedDisk(), {
    fail: () => {
      if (durable) seen.push(durable.read().numbers);
      return undefined;
    },
  });
  const update = durable.update(add(1));
  expect(durable.read().numbers).toEqual([]);
  await update;
  expect(durable.read().numbers).toEqual([1]);
  expect(seen.length).toBeGreaterThan(5);
  expect(seen.flat()).toEqual([]);
});

test.each<[string, string]>([
  ['ENOSPC', 'write'],
  ['EDQUOT', 'write'],
  ['ENOSPC', 'sync'],
  ['ENOSPC', 'open'],
])('%s on %s is insufficient storage', async (code, failing) => {
  let broken = false;
  const durable = await numbersOn(createSimulatedDisk(), {
    fail: (operation) => (broken && operation === failing ? code : undefined),
  });
  await durable.update(add(1));
  broken = true;
  await expect(durable.update(add(2))).rejects.toMatchObject({ code: 'insufficient_storage', status: 507 });
  expect(durable.read().numbers).toEqual([1]);
  expect(durable.faults()).toEqual([`numbers.json cannot be written (${code})`]);
  broken = false;
  await durable.update(add(3));
  expect(durable.read().numbers).toEqual([1, 3]);
  expect(durable.faults()).toEqual([]);
});

test.each(['open', 'write', 'sync', 'stat', 'close', 'rename', 'syncFolder'])(
  'a failed %s fails everyone in that generation, and the next one is written afresh',
  async (failing) => {
    const simulated = createSimulatedDisk();
    let broken = false;
    const durable = await numbersOn(simulated, {
      fail: (operation) => (broken && operation === failing ? 'EIO' : undefined),
    });
    await durable.update(add(1));
    broken = true;
    const outcomes = await Promise.allSettled([durable.update(add(2)), durable.update(add(3))]);
    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: { code: 'EIO' } },
      { status: 'rejected', reason: { code: 'EIO' } },
    ]);
    broken = false;
    await durable.update(add(4));
    expect(durable.read().numbers).toEqual([1, 4]);
    simulated.cutPower(() => 0);
    expect((await numbersOn(simulated)).read().numbers).toEqual([1, 4]);
    expect(simulated.names().sort()).toEqual(['numbers.json', 'numbers.json.prev']);
  },
);

test('a disk that cuts a file short without an error does not replace the good one', async () => {
  const simulated = createSimulatedDisk();
  const durable = await numbersOn(simulated);
  await durable.update(add(1));
  const { disk } = simulated.boot();
  const lying = await createDurable({
    path: '/data/numbers.json',
    schema: z.object({ numbers: z.array(z.int()) }),
    initial: { numbers: [] },
    log: pino({ level: 'silent' }),
    now: Date.now,
    disk: {
      ...disk,
      async open(path, flags, mode) {
        const handle = await disk.open(path, flags, mode);
        const write = async (bytes: Uint8Array, offset: number): Promise<{ bytesWritten: number }> => {
          await handle.write(bytes.subarray(0, bytes.length / 2), offset);
          return { bytesWritten: bytes.length - offset };
        };
        return { ...handle, write };
      },
    },
  });
  await expect(lying.update(add(2))).rejects.toThrow('bytes long');
  expect((await numbersOn(simulated)).read().numbers).toEqual([1]);
});

test('a disk that takes nothing, and says so, is an error and no endless loop', async () => {
  const durable = await numbersOn(createSimulatedDisk(), { take: () => 0 });
  await expect(durable.update(add(1))).rejects.toThrow('could not be written completely');
});

test('a file system without hard links goes without the file before', async () => {
  const simulated = createSimulatedDisk();
  const durable = await numbersOn(simulated, { fail: (operation) => (operation === 'link' ? 'EPERM' : undefined) });
  await durable.update(add(1));
  await durable.update(add(2));
  expect(simulated.names()).toEqual(['numbers.json']);
  expect((await numbersOn(simulated)).read().numbers).toEqual([1, 2]);
});

test.each(['EPERM', 'EBUSY'])('a rename that meets %s is tried again', async (code) => {
  let left = 0;
  const durable = await numbersOn(createSimulatedDisk(), {
    fail: (operation) => {
      if (operation !== 'rename' || left === 0) return undefined;
      left -= 1;
      return code;
    },
  });
  left = 4;
  await durable.update(add(1));
  left = Number.POSITIVE_INFINITY;
  await expect(durable.update(add(2))).rejects.toMatchObject({ code });
  expect(durable.read().numbers).toEqual([1]);
});

test('a change that throws is its own caller alone', async () => {
  const durable = await numbersOn(createSimulatedDisk());
  const outcomes = await Promise.allSettled([
    durable.update(add(1)),
    durable.update(() => {
      throw new Error('mine');
    }),
    durable.update(add(2)),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(durable.read().numbers).toEqual([1, 2]);
});

test('a state that breaks the schema is not written', async () => {
  const simulated = createSimulatedDisk();
  const durable = await numbersOn(simulated);
  await expect(durable.update(() => ({ numbers: [0.5] }))).rejects.toThrow();
  expect((await numbersOn(simulated)).read().numbers).toEqual([]);
});

test('close settles what is under way and takes nothing more', async () => {
  const simulated = createSimulatedDisk();
  const durable = await numbersOn(simulated);
  let settled = 0;
  for (const number of [1, 2]) {
    void durable.update(add(number)).then(() => {
      settled += 1;
    });
  }
  await durable.close();
  expect(settled).toBe(2);
  await expect(durable.update(add(3))).rejects.toThrow('closed');
  expect((await numbersOn(simulated)).read().numbers).toEqual([1, 2]);
});

test('a start on a disk that takes nothing works, and says so', async () => {
  let broken = true;
  const durable = await numbersOn(createSimulatedDisk(), {
    fail: (operation) => (broken && operation === 'open' ? 'EROFS' : undefined),
  });
  expect(durable.read()).toEqual({ numbers: [] });
  expect(durable.faults()).toEqual(['numbers.json cannot be written (EROFS)']);
  broken = false;
  await durable.update(add(1));
  expect(durable.faults()).toEqual([]);
});

test('a process that is short of file handles does not take the file for damaged', async () => {
  const simulated = createSimulatedDisk();
  await (await numbersOn(simulated)).update(add(1));
  const starved = numbersOn(simulated, { fail: (operation) => (operation === 'readFile' ? 'EMFILE' : undefined) });
  await expect(starved).rejects.toMatchObject({ code: 'EMFILE' });
  expect((await numbersOn(simulated)).read().numbers).toEqual([1]);
});

test('a sector that cannot be read sets the file aside', async () => {
  const simulated = createSimulatedDisk();
  await (await numbersOn(simulated)).update(add(1));
  let reads = 0;
  const durable = await numbersOn(simulated, {
    fail: (operation) => {
      if (operation !== 'readFile') return undefined;
      reads += 1;
      return reads === 1 ? 'EIO' : undefined;
    },
  });
  expect(durable.read().numbers).toEqual([]);
  expect(simulated.names()).toContainEqual(expect.stringContaining('numbers.json.corrupt-'));
});

test.runIf(process.platform === 'linux')('a folder that cannot be synced at all is let pass', async () => {
  await systemDisk.syncFolder('/proc');
});
