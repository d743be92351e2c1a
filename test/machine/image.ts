/** The image of this build, and what is on a disk that a machine has started from it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { layout } from '../../.scripts/image/layout.ts';
import { run } from '../install/deb.ts';
import { createMachine, type DiskSource, type Machine } from './machine.ts';
import { work } from './tree.ts';

export const GB = 1e9;

const root = join(import.meta.dirname, '..', '..');

const imageIn = (folder: string): string | undefined =>
  existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith('-amd64-standin.img')) : undefined;

/**
 * Builds an image.
 * @param more options of the build
 * @param keys what its bundle is signed with, PEM; absent: it has none
 * @returns its path
 */
export const buildImage = (
  out: string,
  more: string[] = [],
  { key = '', certificate = '' }: { key?: string; certificate?: string } = {},
): string => {
  const cache = process.env['SIGNAGE_MACHINE_CACHE'];
  const args = ['--import', 'tsx', '.scripts/packages/image.ts', '--standin', '--raw', '--out', out, ...more];
  execFileSync(process.execPath, [...args, ...(cache ? ['--cache', cache] : [])], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, IMAGE_SIGNING_KEY: key, IMAGE_SIGNING_CERTIFICATE: certificate },
  });
  return join(out, imageIn(out) ?? '');
};

let built: string | undefined;

/** The path of the image, built once; with `SIGNAGE_MACHINE_DISKS`, a folder, once for all runs. */
export const imageFile = (): string => {
  const out = process.env['SIGNAGE_MACHINE_DISKS'] || join(work, 'image');
  const there = imageIn(out);
  built ??= there === undefined ? buildImage(out) : join(out, there);
  return built;
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** What a machine may take without KVM, and a renderer that is quick without a GPU; systemd reads it from the firmware of a virtual machine. */
const slow = `type=11,value=io.systemd.credential.binary:systemd.unit-dropin.signage-player.service=${base64(
  '[Service]\nTimeoutStartSec=1800\nWatchdogSec=1800\nEnvironment=WLR_RENDERER=pixman\n',
)}`;

/** A display that every firmware has. */
const display = ['-device', 'virtio-vga,id=gpu,xres=800,yres=600'];

/** A machine that starts from the image. @param more options of QEMU */
export const machineOf = (
  source: Omit<DiskSource, 'disk'> & { disk?: string },
  name: string,
  more: string[] = [],
  reach: { reachesHost?: boolean } = {},
): Promise<Machine> =>
  createMachine({ disk: source.disk ?? imageFile(), ...source }, name, ['-smbios', slow, ...display, ...more], reach);

/** What is on a disk that is switched off. */
export const openDisk = (disk: string) => {
  const raw = join(work, 'opened.img');
  rmSync(raw, { force: true });
  run('qemu-img', 'convert', '-O', 'raw', disk, raw);
  const at = (name: 'efi' | 'config'): string => `${raw}@@${layout.partitions[name].start}`;
  const table = JSON.parse(run('sfdisk', '--json', raw)).partitiontable as {
    id: string;
    partitions: { start: number; size: number; uuid: string; name?: string }[];
  };
  return {
    raw,
    table,
    /** The names on a partition. */
    names: (name: 'efi' | 'config'): string[] => run('mdir', '-b', '-i', at(name), '::/').split('\n').filter(Boolean),
    /** The text of a file there. */
    read: (name: 'efi' | 'config', path: string): string => run('mtype', '-i', at(name), `::/${path}`),
    data: () => {
      const [{ start, size } = { start: 0, size: 0 }] = table.partitions.slice(layout.dataNumber - 1);
      const file = join(work, 'data.img');
      rmSync(file, { force: true });
      run('dd', `if=${raw}`, `of=${file}`, 'bs=512', `skip=${start}`, `count=${size}`, 'conv=sparse', 'status=none');
      return {
        read: (path: string): string => run('debugfs', '-R', `cat ${path}`, file),
        /** As at a start, where journal and counts are put right. @throws Error if anything is wrong afterwards */
        check: (): void => {
          // 1: something was corrected.
          if ((spawnSync('e2fsck', ['-p', file]).status ?? 8) > 1) throw new Error('e2fsck -p has repaired too little');
          run('e2fsck', '-fn', file);
        },
      };
    },
  };
};
