/** Displays that are off at power-on, and a graphics device that the compositor cannot use, or only in software. */
import { expect, it } from 'vitest';
import { createMachine, patience, playing, plug, switchOff } from '../machine.ts';

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
  await plug(machine, 'on');
  await machine.plays('switched-on');
  await machine.inside(`rm ${settings} && update-grub && sync`);
});

it('a box whose display cannot be opened serves, and its console shows name, address and fault', async () => {
  await switchOff();
  const machine = await createMachine('trixie', 'without-display', ['-device', 'bochs-display']);
  await machine.powerOn();
  await expect.poll(async () => (await machine.request('/healthz')).status, patience).toBe(200);
  const health = await machine.health();
  const { renderer, reason } = health.kiosk.compositor;
  await machine.picture('page');
  if (renderer === 'none') {
    expect(health).toMatchObject({ status: 'degraded', kiosk: { screens: [] } });
    expect(health.warnings).toContain(`No display can be opened: ${reason}.`);
    // Text on black, and no cursor that blinks.
    await expect.poll(async () => (await machine.picture('page')).colours.length, patience).toBeGreaterThan(1);
    expect((await machine.picture('page')).colours[0]).toEqual(['#000000', expect.closeTo(0.98, 1)]);
  } else {
    // A newer kernel or compositor can.
    await machine.showsCode();
  }
  await machine.cutPower();
});
