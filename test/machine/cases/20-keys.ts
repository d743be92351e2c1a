/** Every key combination that a passer-by may try leaves the picture, the session and the machine as they are. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { codeOn, playing } from '../machine.ts';

const combinations = [
  ...['ctrl-alt-f2', 'ctrl-alt-f6', 'alt-f2', 'alt-right', 'ctrl-alt-delete', 'alt-sysrq-r', 'ctrl-alt-f3'],
  ...['alt-sysrq-k', 'alt-sysrq-b', 'ctrl-c', 'ctrl-z', 'ctrl-s', 'alt-f4', 'alt-tab', 'meta_l-d', 'meta_l-shift-e'],
  ...['ctrl-w', 'ctrl-r', 'ctrl-n', 'ctrl-t', 'ctrl-shift-i', 'f1', 'f5', 'f11', 'f12', 'power', 'sleep', 'wake'],
];

it('no key combination reaches kernel, console, compositor or another page', async () => {
  const machine = await playing();
  const state = () =>
    machine.inside(
      'cat /proc/sys/kernel/random/boot_id; fgconsole; systemctl show -P MainPID signage-player; pgrep -c agetty || true',
    );
  const before = await state();
  for (const keys of combinations) {
    await machine.press(keys);
    await wait(500);
  }
  for (let presses = 0; presses < 8; presses += 1) await machine.press('ctrl-alt-delete', 50);
  expect(await state()).toBe(before);
  const picture = await machine.picture('keys');
  // A slide, no black console: nothing of one colour.
  expect(picture.colours[0]?.[1]).toBeLessThan(0.98);
  expect(codeOn(picture)).toBeUndefined();
  await machine.plays();
});

it('a mouse has no pointer that is seen', async () => {
  const machine = await playing();
  await machine.qmp('device_add', { driver: 'usb-mouse', id: 'mouse' });
  const before = (await machine.inside('cat /proc/bus/input/devices')).includes('Mouse');
  for (let moves = 0; moves < 20; moves += 1) {
    const events = ['x', 'y'].map((axis) => ({ type: 'rel', data: { axis, value: moves % 2 === 0 ? 60 : -40 } }));
    await machine.qmp('input-send-event', { events });
  }
  for (const button of ['left', 'right', 'middle']) {
    for (const down of [true, false])
      await machine.qmp('input-send-event', { events: [{ type: 'btn', data: { button, down } }] });
  }
  expect(before).toBe(true);
  await machine.picture('mouse');
  await machine.plays();
  await machine.qmp('device_del', { id: 'mouse' });
});
