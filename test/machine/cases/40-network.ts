/** Without a network, with one that comes back, and with another address. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { patience, playing } from '../machine.ts';

it('plays on while the cable is out, and is reached again when it is back', async () => {
  const machine = await playing();
  const startedAt = (await machine.health()).startedAt;
  await machine.qmp('set_link', { name: 'net', up: false });
  const seen = new Set<string>();
  // At least 20 s; a machine that has no time has each slide on for longer.
  for (let pictures = 0; pictures < 10 || (seen.size < 2 && pictures < 100); pictures += 1) {
    const picture = await machine.picture('offline');
    expect(picture.colours[0]?.[1]).toBeLessThan(0.98);
    seen.add(JSON.stringify(picture.colours));
    await wait(2_000);
  }
  expect(seen.size).toBeGreaterThan(1);
  await machine.qmp('set_link', { name: 'net', up: true });
  await expect.poll(async () => (await machine.request('/healthz')).status, patience).toBe(200);
  expect((await machine.health()).startedAt).toBe(startedAt);
});

it('says its new address when that changes', async () => {
  const machine = await playing();
  const { screens } = (await machine.health()).kiosk;
  await machine.inside(
    'systemd-run --quiet sh -c "ip address add 10.0.2.99/24 dev enp0s5; ip address del 10.0.2.15/24 dev enp0s5; sleep 60; ip address add 10.0.2.15/24 dev enp0s5; ip route replace default via 10.0.2.2"',
  );
  await wait(20_000);
  expect((await machine.picture('address')).colours[0]?.[1]).toBeLessThan(0.98);
  await expect.poll(async () => (await machine.request('/healthz')).status, patience).toBe(200);
  expect((await machine.health()).kiosk.screens[0]).toMatchObject({ deviceId: screens[0].deviceId, state: 'playing' });
});
