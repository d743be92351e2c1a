/** Whatever is killed, the picture is back without a hand. */
import { expect, it } from 'vitest';
import { patience, playing } from '../machine.ts';

it.each([
  ['the compositor', 'sway'],
  ['the session', 'session'],
  ['the player', 'node'],
])('the picture is back after kill -9 of %s', async (_, name) => {
  const machine = await playing();
  const mainProcess = async () => (await machine.inside('systemctl show -P MainPID signage-player')).trim();
  const before = await mainProcess();
  await machine.inside(`pkill -KILL --oldest -u signage -x ${name}`);
  await expect.poll(mainProcess, patience).not.toBe(before);
  await expect.poll(async () => (await machine.health()).kiosk?.screens?.[0]?.state, patience).toBe('playing');
  await machine.plays(`kill-${name}`);
});
