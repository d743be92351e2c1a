/** Every key combination that a passer-by may try leaves the picture, the session and the machine as they are. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { codeOn, playing, swaymsg } from '../machine.ts';

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
  const countWindows = async (): Promise<number> =>
    (await machine.inside(swaymsg('-t get_tree -r'))).match(/"pid":/g)?.length ?? 0;
  // What the keyboard has sent, as the kernel hands it on: without KVM that is seconds later.
  await machine.inside('systemd-run --quiet --unit=heard sh -c "cat /dev/input/by-id/*-event-kbd >/run/heard"');
  const heard = async (): Promise<number> => {
    const events = Buffer.from(await machine.inside('base64 -w0 /run/heard'), 'base64');
    const isPress = (at: number): boolean => events.readUInt16LE(at + 16) === 1 && events.readInt32LE(at + 20) === 1;
    return Array.from({ length: events.length / 24 }, (_, index) => index * 24).filter(isPress).length;
  };
  const before = await state();
  for (const keys of combinations) {
    await machine.press(keys);
    await wait(1_500);
  }
  const burst = Array.from({ length: 8 }, () => 'ctrl-alt-delete');
  for (const keys of burst) await machine.press(keys, 50);
  const presses = [...combinations, ...burst].flatMap((keys) => keys.split('-')).length;
  await expect.poll(heard, { timeout: 120_000, interval: 5_000 }).toBeGreaterThan(presses * 0.9);
  // A machine that was told to shut down has done so by then.
  await wait(20_000);
  expect(await state()).toBe(before);
  expect(await countWindows()).toBe(1);
  const picture = await machine.picture('keys');
  // A slide, no black console: nothing of one colour.
  expect(picture.colours[0]?.[1]).toBeLessThan(0.98);
  expect(codeOn(picture)).toBeUndefined();
  await machine.inside('systemctl stop heard');
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
  await machine.plays('mouse');
  await machine.qmp('device_del', { id: 'mouse' });
});
