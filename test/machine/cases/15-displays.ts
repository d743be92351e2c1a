/** A display that is unplugged and plugged in again. */
import { expect, it } from 'vitest';
import { patience, playing, plug, swaymsg } from '../machine.ts';

it('a display that is pulled and comes back shows its own screen again', async () => {
  const machine = await playing();
  const screens = async (): Promise<{ deviceId: string; state: string }[]> =>
    (await machine.health()).kiosk?.screens ?? [];
  const [before] = await screens();
  const outputs = async (): Promise<unknown[]> => JSON.parse(await machine.inside(swaymsg('-t get_outputs -r')));
  await plug(machine, 'off');
  await expect.poll(outputs, patience).toEqual([]);
  await plug(machine, 'detect');
  await expect.poll(outputs, patience).toHaveLength(1);
  await machine.plays('replugged');
  expect(await screens()).toMatchObject([{ deviceId: before?.deviceId, state: 'playing' }]);
});
