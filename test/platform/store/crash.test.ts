import fc from 'fast-check';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Disk } from '../../../service/platform/store/disk.ts';
import { createDurable, type Durable } from '../../../service/platform/store/durable.ts';
import { repeats } from '../../support/soak.ts';
import { createSimulatedDisk } from './simulated-disk.ts';

interface Numbers {
  numbers: number[];
}

const open = (disk: Disk): Promise<Durable<Numbers>> =>
  createDurable({
    path: '/data/numbers.json',
    schema: z.object({ numbers: z.array(z.int()) }),
    initial: { numbers: [] },
    log: pino({ level: 'silent' }),
    disk,
    now: Date.now,
  });

const writing = ['open', 'write', 'sync', 'close', 'stat', 'link', 'rename', 'unlink', 'syncFolder'];

const life = fc.record({
  /** How many updates are asked for at once, each time. */
  batches: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 6 }),
  crashAt: fc.nat(70),
  powerCut: fc.boolean(),
  failing: fc.dictionary(fc.nat(70).map(String), fc.constantFrom('ENOSPC', 'EIO', 'EDQUOT'), { maxKeys: 4 }),
});

test('whatever fails and wherever it stops, nothing that was acknowledged or shown is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), fc.gen(), async (lives, generate) => {
      const draw = (most: number): number => generate(fc.nat, most);
      const simulated = createSimulatedDisk();
      const promised = new Set<number>();
      let submitted = 0;

      for (const { batches, crashAt, powerCut, failing } of lives) {
        const { disk, crashed } = simulated.boot({
          crashAt,
          fail: (operation, step) => (writing.includes(operation) ? failing[step] : undefined),
          take: (most) => 1 + draw(most - 1),
        });
        let durable: Durable<Numbers> | undefined;
        const run = async (): Promise<void> => {
          durable = await open(disk);
          const { update } = durable;
          for (const size of batches) {
            const updates = Array.from({ length: size }, async () => {
              submitted += 1;
              const number = submitted;
              await update(({ numbers }) => ({ numbers: [...numbers, number] }));
              promised.add(number);
            });
            await Promise.allSettled(updates);
          }
        };
        await Promise.race([run(), crashed]);
        if (durable?.faults().length === 0) for (const number of durable.read().numbers) promised.add(number);
        if (powerCut) simulated.cutPower(draw);
      }

      const durable = await open(simulated.boot().disk);
      const { numbers } = durable.read();
      expect(durable.faults()).toEqual([]);
      expect(numbers).toEqual(expect.arrayContaining([...promised]));
      expect(numbers).toEqual([...new Set(numbers)].filter((n) => n <= submitted).sort((a, b) => a - b));
      expect(simulated.names().filter((name) => !['numbers.json', 'numbers.json.prev'].includes(name))).toEqual([]);
    }),
    { numRuns: repeats(200, 10_000) },
  );
});

test('every single step of an update may be the last one', async () => {
  const outcomes = new Set<string>();
  for (let crashAt = 0; ; crashAt += 1) {
    const simulated = createSimulatedDisk();
    const first = await open(simulated.boot().disk);
    await first.update(() => ({ numbers: [1] }));
    const { disk, crashed, steps } = simulated.boot({ crashAt });
    const update = open(disk).then((durable) => durable.update(() => ({ numbers: [1, 2] })));
    await Promise.race([update, crashed]);
    simulated.cutPower((most) => most);
    const durable = await open(simulated.boot().disk);
    const { numbers } = durable.read();
    outcomes.add(numbers.join());
    await durable.update(() => ({ numbers: [3] }));
    expect(simulated.names().sort()).toEqual(['numbers.json', 'numbers.json.prev']);
    if (steps() < crashAt) {
      expect(numbers).toEqual([1, 2]);
      break;
    }
  }
  expect([...outcomes]).toEqual(['1', '1,2']);
});
