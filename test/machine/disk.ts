/** A disk with a GPT, an EFI system partition with Debian's GRUB, and a root of ext4; without loop devices. */
import { existsSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../install/deb.ts';
import { type Release, withTree, work } from './tree.ts';

const MIB = 2 ** 20;
const SECTOR = 512;
/** OVMF does not see a FAT32 of this size. */
const efi = { start: MIB, size: 128 * MIB };
const system = { start: efi.start + efi.size, size: 7 * 1024 * MIB };

const build = async (release: Release, path: string): Promise<void> => {
  writeFileSync(path, '');
  truncateSync(path, system.start + system.size + MIB);
  const table = join(work, 'table');
  const line = ({ start, size }: typeof efi, type: string) =>
    `start=${start / SECTOR}, size=${size / SECTOR}, type=${type}\n`;
  writeFileSync(table, `label: gpt\n${line(efi, 'U')}${line(system, 'L')}`);
  run('sh', '-c', `sfdisk -q '${path}' <'${table}'`);
  await withTree(release, (tree) => {
    const boot = join(work, 'efi');
    mkdirSync(join(boot, 'EFI/BOOT'), { recursive: true });
    mkdirSync(join(boot, 'EFI/debian'));
    run('cp', join(tree.path, 'usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed'), join(boot, 'EFI/BOOT/BOOTX64.EFI'));
    // As grub-install writes it.
    const config = `search.fs_uuid ${tree.uuid} root\nset prefix=($root)'/boot/grub'\nconfigfile $prefix/grub.cfg\n`;
    writeFileSync(join(boot, 'EFI/debian/grub.cfg'), config);
    run('mkfs.vfat', '-F', '16', '--offset', String(efi.start / SECTOR), path, String(efi.size / 1024));
    run('mcopy', '-s', '-i', `${path}@@${efi.start}`, join(boot, 'EFI'), '::/');
    rmSync(boot, { recursive: true });
    const options = ['-U', tree.uuid, '-E', `offset=${system.start}`, '-d', tree.path];
    run('mke2fs', '-q', '-t', 'ext4', ...options, path, `${system.size / 1024}k`);
  });
};

/** The disk of a release, made once; with `SIGNAGE_MACHINE_DISKS`, a folder, once for all runs. */
export const diskOf = async (release: Release): Promise<string> => {
  const path = join(process.env['SIGNAGE_MACHINE_DISKS'] || work, `${release}.img`);
  if (existsSync(path)) return path;
  // One that was interrupted is not taken for a whole one.
  await build(release, `${path}.part`);
  renameSync(`${path}.part`, path);
  return path;
};
