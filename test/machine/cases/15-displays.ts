/** A display that is unplugged and plugged in again. */
import { expect, it } from 'vitest';
import { playing, swaymsg } from '../machine.ts';

it('a display that is lost and comes back shows its own screen again, and a second one shows a code', async () => {
  const machine = await playing();
  const screens = async (): Promise<{ deviceId: string; state: string }[]> =>
    (await machine.health()).kiosk?.screens ?? [];
  const [before] = await screens();
  const [output] = JSON.parse(await machine.inside(swaymsg('-t get_outputs -r')));
  // The cable of a virtual card cannot be pulled: the compositor is told that it was.
  await machine.inside(swaymsg(`output ${output.name} disable`));
  await machine.inside(swaymsg(`output ${output.name} enable`));
  await machine.plays('replugged');
  expect((await screens())[0]).toMatchObject({ deviceId: before?.deviceId, state: 'playing' });
});
