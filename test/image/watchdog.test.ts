/** The hardware watchdog is fed while the player paints: a file in the place of the device tells how often. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';

const script = join(import.meta.dirname, '..', '..', 'resources/image/root/usr/lib/signage/watchdog');

const start = (grace: number) => {
  const folder = temporaryFolder();
  const [device, painted] = [join(folder, 'device'), join(folder, 'painted')];
  const settings = { DEVICE: device, PAINTED: painted, GRACE: String(grace), PAUSE: '0.1', PATIENCE: '1' };
  const child = spawn(script, { env: { PATH: process.env.PATH, ...settings } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const fed = (): string => (existsSync(device) ? readFileSync(device, 'utf8') : '');
  /** Waits until it is fed no more. */
  const untilHungry = async (): Promise<void> => {
    for (let before = -1; fed().length !== before; ) {
      before = fed().length;
      await wait(600);
    }
  };
  return { child, fed, painted, untilHungry };
};

it('is fed until the first picture, and then for as long as there are pictures', async () => {
  const { fed, painted, untilHungry } = start(2);
  await expect.poll(() => fed().length, patience).toBeGreaterThan(0);
  await untilHungry();
  const before = fed().length;
  for (let picture = 0; picture < 6; picture += 1) {
    writeFileSync(painted, '');
    await wait(300);
  }
  expect(fed().length).toBeGreaterThan(before + 3);
  await untilHungry();
});

it('lets the machine stay on where it is ended in order', async () => {
  const { child, fed } = start(60);
  await expect.poll(() => fed().length, patience).toBeGreaterThan(0);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(fed().at(-1)).toBe('V');
});
