/** Where everything lies on the disk of an image, and what its loaders read. */
import { expect, it } from 'vitest';
import { biosLoader } from '../../.scripts/image/disk.ts';
import { environmentBlock, guidOf, layout, layoutVariables, SECTOR, tableOf } from '../../.scripts/image/layout.ts';

const partitions = Object.values(layout.partitions);

it('has partitions one after the other, and the data after the second copy of the table', () => {
  partitions.reduce((end, { start, size }) => {
    expect(start).toBe(end);
    return start + size;
  }, 2 ** 20);
  const end = Math.max(...partitions.map(({ start, size }) => start + size));
  expect(layout.dataStart - end).toBeGreaterThanOrEqual(33 * SECTOR);
  expect(layout.dataStart).toBeLessThanOrEqual(5 * 2 ** 30);
  // An older image's data lie here: moved, a new image would write over them.
  expect(layout.dataStart).toBe(4227 * 2 ** 20);
  expect(layout.dataNumber).toBe(6);
});

it('has a partition that Windows and macOS mount, and one of the firmware', () => {
  expect(layout.partitions.config.type).toBe('EBD0A0A2-B9E5-4433-87C0-68B6B72699C7');
  expect(tableOf('a')).toMatch(/size=131072, type=U, name=efi/);
});

it('has ids that are the same for the same image, and differ from those of others and of a started box', () => {
  expect(tableOf('a')).toBe(tableOf('a'));
  const ids = ['a', 'b'].flatMap((seed) => [0, 1, 2, 3, 4, 5].map((index) => guidOf(seed, index)));
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-0000-4000-8000-[0-9a-f]{12}$/);
  expect(crypto.randomUUID()).not.toMatch(/-0000-4000-8000-/);
});

it('tells the scripts of the box the same numbers', () => {
  const variables = layoutVariables();
  for (const line of ['EFI=2', 'CONFIG=3', 'ROOT_A=4', 'ROOT_B=5', 'DATA=6', 'DATA_START=8656896']) {
    expect(variables).toContain(`${line}\n`);
  }
});

it('writes a block of the environment as GRUB does', () => {
  const block = environmentBlock({ SLOT: 'A', TRIAL: '' });
  expect(block).toHaveLength(1024);
  expect(block).toMatch(/^# GRUB Environment Block\nSLOT=A\nTRIAL=\n#+$/);
});

it('tells the boot sector where GRUB lies, and refuses a GRUB that has no room', () => {
  const partition = { ...layout.partitions.bios };
  const { boot, core } = biosLoader(Buffer.alloc(512), Buffer.alloc(1024), partition);
  expect(boot).toHaveLength(440);
  expect(boot.readBigUInt64LE(92)).toBe(2048n);
  expect(boot.readUInt16LE(102)).toBe(0x9090);
  expect(core.readBigUInt64LE(500)).toBe(2049n);
  expect(() => biosLoader(Buffer.alloc(512), Buffer.alloc(2 ** 20 + 1), partition)).toThrow(/1048577 bytes/);
});
