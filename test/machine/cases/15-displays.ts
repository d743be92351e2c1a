/** A display that is unplugged and plugged in again, and one that is off at power-on. */
import { expect, it } from 'vitest';
import { patience, playing, swaymsg } from '../machine.ts';

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

it('a box whose display is off at power-on serves without one, and plays as soon as it is switched on', async () => {
  const machine = await playing();
  // The kernel then takes the connector of the display for empty. The file follows that of the package.
  const settings = '/etc/default/grub.d/zz-off.cfg';
  const words = 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT video=Virtual-1:d"';
  await machine.inside(`cat >${settings} && update-grub && sync`, words);
  await machine.cutPower();
  await machine.powerOn();
  const kiosk = async () => (await machine.health()).kiosk;
  await expect
    .poll(kiosk, patience)
    .toMatchObject({ screens: [], compositor: { renderer: expect.stringMatching(/gpu|pixman/) } });
  expect((await machine.request('/screen/demo')).status).toBe(200);
  // What the kernel tells when a television is switched on; a virtual one cannot tell it.
  const rule = 'SUBSYSTEM=="drm", ACTION=="change", ENV{HOTPLUG}="1"';
  await machine.inside(
    `mkdir -p /run/udev/rules.d && cat >/run/udev/rules.d/99-on.rules && udevadm control --reload`,
    rule,
  );
  await machine.inside(
    'echo on >/sys/class/drm/card0-Virtual-1/status; udevadm trigger --action=change --subsystem-match=drm',
  );
  await machine.plays('switched-on');
  await machine.inside(`rm ${settings} && update-grub && sync`);
});
