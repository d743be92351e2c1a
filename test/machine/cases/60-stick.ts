/** A USB stick with a configuration, put in and pulled out again. */
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../install/deb.ts';
import { codeOn, patience, playing } from '../machine.ts';
import { work } from '../tree.ts';

it('a stick configures a new box, also one that was pulled while it was read', async () => {
  const machine = await playing();
  const [stick, config] = [join(work, 'stick.img'), join(work, 'config.json')];
  const publicUrl = 'http://192.168.7.20:8080';
  writeFileSync(config, JSON.stringify({ publicUrl }));
  writeFileSync(stick, '');
  truncateSync(stick, 64 * 2 ** 20);
  run('mkfs.vfat', '-n', 'STICK', stick);
  run('mcopy', '-i', stick, config, '::/config.json');
  // As it came: without a configuration and bindings.
  await machine.inside(
    'systemctl stop signage-player; find /var/lib/signage-player -mindepth 1 -delete; systemctl start signage-player',
  );
  await machine.showsCode('new');

  const plug = async (id: string): Promise<void> => {
    await machine.qmp('blockdev-add', { driver: 'file', 'node-name': id, filename: stick, 'read-only': true });
    await machine.qmp('device_add', { driver: 'usb-storage', id, drive: id, bus: 'usb.0' });
  };
  await plug('pulled');
  await machine.qmp('device_del', { id: 'pulled' });
  await plug('stick');
  await expect
    .poll(async () => codeOn(await machine.picture('stick')), patience)
    .toMatch(new RegExp(`^${publicUrl}/onboard`));
  expect(await machine.inside('findmnt -no OPTIONS /run/media/signage/* || true')).not.toMatch(/\brw\b/);
  await machine.qmp('device_del', { id: 'stick' });
});
