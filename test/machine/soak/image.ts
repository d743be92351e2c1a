/** The first start of the image where something is in its way: a disk that is too small, a second copy, older data, a power cut. */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { layout, SECTOR } from '../../../.scripts/image/layout.ts';
import { run } from '../../install/deb.ts';
import { GB, imageFile, machineOf, openDisk } from '../image.ts';
import { bind, codeOn, type Machine, type Picture, patience } from '../machine.ts';
import { work } from '../tree.ts';
import { readWrites } from '../writes.ts';

/** Light text on black, as the kernel's console draws it. */
const isText = ({ colours }: Picture): boolean =>
  colours[0]?.[0] === '#000000' && colours.length > 1 && colours.slice(1).every(([, share]) => share < 0.1);

/** Waits for a text that stays. */
const showsText = async (machine: Machine): Promise<void> => {
  let seen = 0;
  const look = async (): Promise<number> => {
    const picture = await machine.picture('text');
    expect(codeOn(picture)).toBeUndefined();
    seen = isText(picture) ? seen + 1 : 0;
    return seen;
  };
  await expect.poll(look, patience).toBeGreaterThan(10);
};

it('changes nothing on a disk that is too small, and says so', async () => {
  const machine = await machineOf({ size: 7 * GB, firmware: 'uefi' }, 'small');
  await machine.powerOn();
  await showsText(machine);
  await machine.cutPower();
  // Beyond the image there are zeros on both.
  execFileSync('qemu-img', ['compare', imageFile(), machine.disk], { stdio: 'inherit' });
});

it('does not start where two disks are the same copy', async () => {
  const second = ['-drive', `if=none,id=second,file=${imageFile()},format=raw,snapshot=on`];
  const machine = await machineOf({ size: 16 * GB, firmware: 'uefi' }, 'twice', [
    ...second,
    ...['-device', 'virtio-blk-pci,drive=second'],
  ]);
  await machine.powerOn();
  await showsText(machine);
  await machine.cutPower();
  execFileSync('qemu-img', ['compare', imageFile(), machine.disk], { stdio: 'inherit' });
});

it('plays beside a stick with a fresh copy, and keeps its data when the image is written to it once more', async () => {
  const machine = await machineOf({ size: 16 * GB, firmware: 'uefi' }, 'again');
  await machine.powerOn();
  const code = await machine.showsCode();
  expect(await bind(machine, new URL(code).searchParams.get('deviceId') ?? '')).toBe(true);
  await machine.plays();
  await machine.cutPower();

  const stick = ['-drive', `if=none,id=stick,file=${imageFile()},format=raw,snapshot=on`];
  await machine.powerOn(...stick, '-device', 'usb-storage,bus=usb.0,drive=stick', '-device', 'virtio-balloon-pci');
  await machine.plays();
  await machine.cutPower();
  const before = openDisk(machine.disk);
  const { uuid } = before.table.partitions[layout.dataNumber - 1] ?? {};
  expect(uuid).toBeDefined();
  const state = before.data().read('/lib/signage-player/state.json');

  run('dd', `if=${imageFile()}`, `of=${before.raw}`, 'bs=1M', 'conv=notrunc', 'status=none');
  run('qemu-img', 'convert', '-O', 'qcow2', before.raw, machine.disk);
  await machine.powerOn();
  await machine.plays();
  await machine.cutPower();
  const after = openDisk(machine.disk);
  const kept = (text: string): unknown => JSON.parse(text).body.nodeId;
  expect(kept(after.data().read('/lib/signage-player/state.json'))).toBe(kept(state));
});

it('starts with Secure Boot, by what others have signed, unchanged', async () => {
  const machine = await machineOf({ size: 16 * GB, firmware: 'secure' }, 'secure');
  await machine.powerOn();
  await machine.showsCode();
  await machine.cutPower();

  const disk = join(work, 'changed.img');
  run('cp', '--sparse=always', imageFile(), disk);
  const [shim, partition] = [join(work, 'shim.efi'), `${disk}@@${layout.partitions.efi.start}`];
  run('mcopy', '-o', '-i', partition, '::/EFI/BOOT/BOOTX64.EFI', shim);
  const bytes = readFileSync(shim);
  // In its code, which the signature covers.
  bytes[0x2000] = (bytes[0x2000] ?? 0) ^ 1;
  writeFileSync(shim, bytes);
  run('mcopy', '-o', '-i', partition, shim, '::/EFI/BOOT/BOOTX64.EFI');
  const refused = await machineOf({ disk, size: 16 * GB, firmware: 'secure' }, 'changed');
  await refused.powerOn();
  await showsText(refused);
  await refused.cutPower();
});

it('can be repaired wherever the writes of its first start end', async () => {
  const log = join(work, 'writes.log');
  writeFileSync(log, '');
  const machine = await machineOf({ size: 16 * GB, firmware: 'uefi', writes: log }, 'writes');
  await machine.powerOn();
  await machine.showsCode();
  // So that the log is whole.
  await machine.qmp('quit').catch(() => undefined);
  await machine.cutPower();

  // The data lie in a file of their own, which is copied for each check.
  const [disk, data, copy] = ['replayed.img', 'replayed-data.img', 'checked.img'].map((name) => join(work, name)) as [
    string,
    string,
    string,
  ];
  run('cp', '--sparse=always', imageFile(), disk);
  truncateSync(disk, 16 * GB);
  writeFileSync(data, '');
  truncateSync(data, 16 * GB - layout.dataStart);
  const [whole, part] = [openSync(disk, 'r+'), openSync(data, 'r+')];
  const put = (file: number, bytes: Buffer, at: number): void => void writeSync(file, bytes, 0, bytes.length, at);
  let [writes, tables, checks] = [0, 0, 0];
  for (const { at, length, bytes } of readWrites(log)) {
    writes += 1;
    // systemd-repart discards what is zero on a new disk anyway.
    if (bytes !== null) put(whole, bytes, at);
    if (bytes !== null && at >= layout.dataStart) put(part, bytes, at - layout.dataStart);
    const isTable = at < 34 * SECTOR || at + length > 16 * GB - 34 * SECTOR;
    if (!isTable && writes % 5 > 0) continue;
    const { partitions } = JSON.parse(run('sfdisk', '--json', disk)).partitiontable as {
      partitions: { start: number }[];
    };
    const starts = Object.values(layout.partitions).map(({ start }) => start / SECTOR);
    expect(partitions.slice(0, starts.length).map(({ start }) => start)).toEqual(starts);
    tables += 1;
    // Without its partition the data are made once more.
    if (partitions.length <= starts.length) continue;
    run('cp', '--sparse=always', data, copy);
    // As the start does it.
    if ((spawnSync('e2fsck', ['-p', copy]).status ?? 8) >= 4) spawnSync('e2fsck', ['-y', copy]);
    run('e2fsck', '-fn', copy);
    checks += 1;
  }
  for (const file of [whole, part]) closeSync(file);
  console.log(`${writes} writes: the table was readable at ${tables} of them, and the data at ${checks}`);
  expect(checks).toBeGreaterThan(10);
});

it('comes back from a power cut at any time of its first start', async () => {
  const times = [40, 45, 50, 55, 60, 70, 80, 100, 120, 150];
  const machine = await machineOf({ size: 16 * GB, firmware: 'uefi' }, 'cut');
  for (const seconds of times) {
    run('qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', imageFile(), machine.disk, String(16 * GB));
    await machine.powerOn();
    await wait(seconds * 1000);
    await machine.cutPower();
    await machine.powerOn();
    await machine.showsCode();
    await machine.cutPower();
    openDisk(machine.disk).data().check();
    console.log(`a cut after ${seconds} s: the code is there`);
  }
  expect(existsSync(join(work, 'cut.qcow2'))).toBe(true);
});
