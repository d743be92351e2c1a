/** The image: from power-on to the code that a phone reads, on UEFI from a disk and on BIOS from a stick. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { layout } from '../../../.scripts/image/layout.ts';
import { run } from '../../install/deb.ts';
import { GB, imageFile, machineOf, openDisk } from '../image.ts';
import { bind } from '../machine.ts';
import { work } from '../tree.ts';

/** Of the boxes so far: all were made from one file. */
const ids = new Set<string>();

it.each(['uefi', 'bios'] as const)('shows the code on %s, takes its settings, and plays', async (firmware) => {
  // Two machines need two ids, and a file with settings needs a copy.
  const disk = join(work, `${firmware}.img`);
  run('cp', '--sparse=always', imageFile(), disk);
  const config = join(work, 'config.json');
  writeFileSync(config, '{ "site": "museum", "kiosk": { "pin": "2468" } }\n');
  run('mcopy', '-o', '-i', `${disk}@@${layout.partitions.config.start}`, config, '::/config.json');
  const machine = await machineOf({ disk, size: 16 * GB, firmware, isStick: firmware === 'bios' }, firmware);
  try {
    await machine.powerOn();
    const code = await machine.showsCode();
    console.log(`${firmware}: the code after ${Math.round(machine.seconds())} s`);
    const health = await machine.health();
    expect(health.site).toBe('museum');
    expect(await bind(machine, new URL(code).searchParams.get('deviceId') ?? '')).toBe(true);
    await machine.plays();
  } finally {
    await machine.cutPower();
  }
  const opened = openDisk(machine.disk);
  expect(opened.names('config').join()).not.toContain('config.json');
  // Ids of its own, as every box has.
  expect([opened.table.id, ...opened.table.partitions.map(({ uuid }) => uuid)].join()).not.toMatch(/-0000-4000-8000-/i);
  expect(opened.table.partitions[layout.dataNumber - 1]).toMatchObject({ start: layout.dataStart / 512 });
  const [, machineId = ''] = /^MID=([0-9a-f]{32})$/m.exec(opened.read('efi', 'grub/grubenv')) ?? [];
  const { body } = JSON.parse(opened.data().read('/lib/signage-player/state.json'));
  expect(body.nodeId).toMatch(/^[0-9a-f-]{36}$/);
  const own = [machineId, opened.table.id, body.nodeId];
  expect(own.filter((id) => id === '' || ids.has(id))).toEqual([]);
  for (const id of own) ids.add(id);
});
