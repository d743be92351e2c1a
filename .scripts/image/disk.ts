/** The file that is written to a stick or a disk, made without loop devices and without root. */
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../bundles.ts';
import { environmentBlock, layout, type Partition, SECTOR, tableOf } from './layout.ts';
import { run } from './run.ts';

const { partitions } = layout;

interface Source {
  slot: string;
  /** GRUB for BIOS. */
  core: string;
  /** A folder with the unpacked packages that start the machine. */
  boot: string;
  /** What tells this image from others. */
  seed: string;
  /** The time of all files, s since the epoch. */
  at: number;
}

/** Writes a file into another, leaving holes where it has nothing but zeros. */
const place = (target: number, path: string, start: number): void => {
  const source = openSync(path, 'r');
  const buffer = Buffer.alloc(2 ** 20);
  for (let at = start, read = -1; read !== 0; at += read) {
    read = readSync(source, buffer);
    const bytes = buffer.subarray(0, read);
    if (bytes.some((byte) => byte !== 0)) writeSync(target, bytes, 0, read, at);
  }
  closeSync(source);
};

/** GRUB's two pieces for BIOS, changed as grub-bios-setup does: each says where the next one lies. */
export const biosLoader = (
  bootSector: Buffer,
  core: Buffer,
  { start, size }: Partition,
): { boot: Buffer; core: Buffer } => {
  if (core.length > size) throw new Error(`GRUB for BIOS has ${core.length} bytes, and its partition ${size}`);
  const [first, second] = [Buffer.from(bootSector.subarray(0, 440)), Buffer.from(core)];
  first.writeBigUInt64LE(BigInt(start / SECTOR), 92);
  // It takes the drive that the firmware names.
  first.writeUInt16LE(0x9090, 102);
  second.writeBigUInt64LE(BigInt(start / SECTOR + 1), 500);
  return { boot: first, core: second };
};

/** A file system of FAT32, which wants this many clusters even where it is small. */
const makeFat = (path: string, label: string, id: string, folder: string, { size }: Partition): void => {
  writeFileSync(path, '');
  truncateSync(path, size);
  run('mkfs.vfat', ['-F', '32', '-s', '1', '-n', label, '-i', id, '--invariant', path]);
  const names = run('ls', [folder]).trim().split('\n');
  run('mcopy', ['-i', path, '-spmQ', ...names.map((name) => join(folder, name)), '::/']);
};

/** `config.json` of a new image: no settings. */
const emptyConfig = '{}\n';

export const buildDisk = ({ slot, core, boot, seed, at }: Source, work: string, out: string): void => {
  const files: Record<string, string> = {
    'efi/EFI/BOOT/BOOTX64.EFI': join(boot, 'usr/lib/shim/shimx64.efi.signed'),
    'efi/EFI/BOOT/grubx64.efi': join(boot, 'usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed'),
    'efi/grub/grub.cfg': join(root, 'resources/image/grub.cfg'),
    'config/READ ME.txt': join(root, 'resources/image/read-me.txt'),
  };
  const environment = environmentBlock({ SLOT: 'A', A_OK: '1', B_OK: '0', TRIAL: '', TRIES: '', STARTS: '', MID: '' });
  const texts: Record<string, string> = {
    // Where Debian's signed GRUB looks.
    'efi/EFI/debian/grub.cfg': 'configfile ($root)/grub/grub.cfg\n',
    'efi/grub/grubenv': environment,
    'efi/grub/grubenv.bak': environment,
    'config/config.json': emptyConfig,
  };
  const pathOf = (name: string): string => {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    return join(work, name);
  };
  for (const [name, source] of Object.entries(files)) copyFileSync(source, pathOf(name));
  for (const [name, text] of Object.entries(texts)) writeFileSync(pathOf(name), text);
  run('find', [join(work, 'efi'), join(work, 'config'), '-exec', 'touch', '-d', `@${at}`, '{}', '+']);
  makeFat(join(work, 'efi.img'), 'EFI', '51675167', join(work, 'efi'), partitions.efi);
  makeFat(join(work, 'config.img'), 'SIGNAGE', '51675168', join(work, 'config'), partitions.config);

  writeFileSync(out, '');
  truncateSync(out, layout.dataStart);
  writeFileSync(join(work, 'table'), tableOf(seed));
  run('sh', ['-c', 'exec sfdisk --quiet "$1" <"$2"', 'sh', out, join(work, 'table')]);
  const loader = biosLoader(
    readFileSync(join(boot, 'usr/lib/grub/i386-pc/boot.img')),
    readFileSync(core),
    partitions.bios,
  );
  writeFileSync(join(work, 'core.placed'), loader.core);
  const target = openSync(out, 'r+');
  writeSync(target, loader.boot, 0, loader.boot.length, 0);
  place(target, join(work, 'core.placed'), partitions.bios.start);
  place(target, join(work, 'efi.img'), partitions.efi.start);
  place(target, join(work, 'config.img'), partitions.config.start);
  place(target, slot, partitions['root-a'].start);
  closeSync(target);
};
