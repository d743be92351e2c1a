/** What the machine tells of itself, from folders like those of Linux. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createMachineReader } from '../../service/platform/machine.ts';
import { temporaryFolder } from '../support/service.ts';

const machineWith = (files: Record<string, string>) => {
  const root = temporaryFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const box = { now: 0 };
  const read = createMachineReader(
    { dataDir: root, monotonicNow: () => box.now },
    { proc: join(root, 'proc'), sys: join(root, 'sys') },
  );
  return { box, read, write };
};

const zone = (number: number) => `sys/class/thermal/thermal_zone${number}/temp`;
const throttles = 'sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count';

test('a machine that tells nothing has memory and a disk', async () => {
  const told = await machineWith({}).read();
  expect(told).toMatchObject({ temperature: null, throttled: null });
  expect(told.memory.total).toBeGreaterThan(told.memory.available);
  expect(told.disk?.total).toBeGreaterThan(told.disk?.free ?? Number.NaN);
});

test('the hottest sensor counts, and one without a value does not', async () => {
  const files = {
    [zone(0)]: '48000\n',
    [zone(1)]: '61250\n',
    [zone(2)]: '-274000\n',
    'proc/meminfo': 'MemAvailable:  2048 kB\n',
  };
  expect(await machineWith(files).read()).toMatchObject({ temperature: 61.3, memory: { available: 2_097_152 } });
});

test('a processor of AMD is a sensor, a disk is none', async () => {
  const files = {
    [zone(0)]: '27800\n',
    'sys/class/hwmon/hwmon0/name': 'nvme\n',
    'sys/class/hwmon/hwmon0/temp1_input': '81000\n',
    'sys/class/hwmon/hwmon1/name': 'k10temp\n',
    'sys/class/hwmon/hwmon1/temp1_input': '55125\n',
  };
  expect(await machineWith(files).read()).toMatchObject({ temperature: 55.1 });
});

test('a processor that is slowed down is throttled for a minute', async () => {
  const { box, read, write } = machineWith({ [throttles]: '7\n' });
  const states: (boolean | null)[] = [(await read()).throttled];
  write(throttles, '8\n');
  states.push((await read()).throttled);
  box.now = 59_000;
  states.push((await read()).throttled);
  box.now = 61_000;
  states.push((await read()).throttled);
  expect(states).toEqual([false, true, true, false]);
});

test.each([
  ['0', false],
  ['50000', false],
  ['50005', true],
])('a Raspberry Pi that tells %s is throttled: %s', async (word, throttled) => {
  const file = 'sys/devices/platform/soc/soc:firmware/get_throttled';
  expect(await machineWith({ [file]: `${word}\n` }).read()).toMatchObject({ throttled });
});
