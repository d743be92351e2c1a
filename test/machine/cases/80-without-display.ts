/** A graphics device that the compositor cannot use, and one that needs software. */
import { expect, it } from 'vitest';
import { createMachine, patience, theMachine } from '../machine.ts';

it('a box whose display cannot be opened serves, and its console shows name, address and fault', async () => {
  // Two machines at once need too much memory.
  await (await theMachine()).cutPower();
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
