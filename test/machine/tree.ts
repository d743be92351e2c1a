/** Debian as its installer leaves it, with the package installed as the guide says, and the runtime's stand-in in it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { run } from '../install/deb.ts';
import { layOutStandIn, standInDeb } from '../install/stand-in.ts';
import { packageApp } from '../package/packaged.ts';

export type Release = 'bookworm' | 'trixie';

const root = join(import.meta.dirname, '..', '..');
const archive = 'http://deb.debian.org/debian';

/** Holds everything of a run; goes with the process. */
export const work = mkdtempSync(join(tmpdir(), 'signage-machine-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));

/** Where the systems stay between runs, if somewhere (`SIGNAGE_MACHINE_CACHE`). */
const cache = process.env['SIGNAGE_MACHINE_CACHE'] || work;

/** What a PC has after the installer, and what stands in for the runtime: Chromium. */
const installed = [
  ...[
    'linux-image-amd64',
    'grub-efi-amd64',
    'grub-efi-amd64-signed',
    'openssh-server',
    'sudo',
    'chromium',
    'chromium-headless-shell',
  ],
  ...['fonts-dejavu-core', 'ca-certificates'],
];

/** In the place of GRUB's probe, which finds no device below a folder. */
const probe = (uuid: string): string => `#!/bin/sh
case "$*" in
  *--target=device*) echo /dev/vda2 ;;
  *--target=fs_uuid*) echo ${uuid} ;;
  *--target=partuuid*) echo ${uuid} ;;
  *--target=fs*) echo ext2 ;;
  *--target=partmap*) echo gpt ;;
  *--target=compatibility_hint*) echo hd0,gpt2 ;;
esac
`;

const write = (path: string, text: string, mode = 0o644): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
};

const inside = (system: string, ...command: string[]): string =>
  run('chroot', system, 'env', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C.UTF-8', ...command);

/** What the package depends on and recommends, so that it is fetched once. */
const wanted = (): string[] => {
  const { deb } = parse(readFileSync(join(root, 'electron-builder.yml'), 'utf8')) as {
    deb: { depends: string[]; recommends: string[] };
  };
  return [...deb.depends, ...deb.recommends];
};

const buildBase = (release: Release): string => {
  const packages = wanted();
  const key = createHash('sha256').update(packages.join()).digest('hex').slice(0, 8);
  const system = join(cache, `debian-${release}-${key}`);
  if (existsSync(`${system}.done`)) return system;
  rmSync(system, { recursive: true, force: true });
  const include = `--include=${installed.join(',')}`;
  // In a mount namespace of its own: it bind-mounts /dev/shm of the host, which the removal of an unfinished tree would empty.
  run(
    'unshare',
    '--mount',
    'mmdebstrap',
    '--quiet',
    '--variant=standard',
    include,
    release,
    system,
    `deb ${archive} ${release} main`,
  );
  write(join(system, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', 0o755);
  copyFileSync('/etc/resolv.conf', join(system, 'etc/resolv.conf'));
  inside(system, 'apt-get', 'update', '-qq');
  // A package of nothing but the relations, so that apt chooses as it will for the real one.
  const relations = join(work, 'relations');
  const control = `Package: relations\nVersion: 1\nArchitecture: all\nMaintainer: x <x@localhost>\nDescription: x\nDepends: ${packages.join(', ')}\n`;
  write(join(relations, 'DEBIAN/control'), control);
  run('dpkg-deb', '--build', relations, join(system, 'relations.deb'));
  inside(system, 'apt-get', 'install', '-y', '-qq', '/relations.deb', 'foot-');
  inside(system, 'dpkg', '--purge', 'relations');
  inside(system, 'apt-get', 'clean');
  rmSync(join(system, 'usr/sbin/policy-rc.d'));
  writeFileSync(`${system}.done`, '');
  return system;
};

export interface Tree {
  /** The folder with the system, as long as `use` runs. */
  path: string;
  /** The file system that it will be on. */
  uuid: string;
}

/** The public half opens the machine's root to the tests, as an installer's own account would be. */
export const sshKey = join(cache, 'key');

/** Builds a system and hands it over; afterwards the folder is gone. */
export const withTree = async (release: Release, use: (tree: Tree) => void): Promise<void> => {
  const base = buildBase(release);
  const uuid = crypto.randomUUID();
  const folders = ['system', 'upper', 'overlay'].map((name) => join(work, name));
  const [path = '', upper = '', overlay = ''] = folders;
  for (const folder of folders) mkdirSync(folder);
  run('mount', '-t', 'overlay', '-o', `lowerdir=${base},upperdir=${upper},workdir=${overlay}`, 'overlay', path);
  try {
    const app = await packageApp();
    layOutStandIn(app, join(path, 'standin'));
    if (!existsSync(sshKey)) run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', sshKey);
    write(join(path, 'root/.ssh/authorized_keys'), readFileSync(`${sshKey}.pub`, 'utf8'), 0o600);
    write(join(path, 'etc/hostname'), 'kiosk\n');
    write(join(path, 'etc/fstab'), `UUID=${uuid} / ext4 errors=remount-ro 0 1\n`);
    write(
      join(path, 'etc/network/interfaces'),
      'auto lo\niface lo inet loopback\nallow-hotplug enp0s5\niface enp0s5 inet dhcp\n',
    );
    write(join(path, 'usr/sbin/grub-probe'), probe(uuid), 0o755);
    // Without KVM a start takes minutes; the unit allows what a slow PC needs.
    const slow = '[Service]\nTimeoutStartSec=1800\nWatchdogSec=1800\n';
    write(join(path, 'etc/systemd/system/signage-player.service.d/slow.conf'), slow);
    mkdirSync(join(path, 'boot/grub'), { recursive: true });
    inside(path, 'update-grub');
    cpSync(standInDeb(app, '0.1.0'), join(path, 'signage-player-0.1.0-amd64.deb'));
    // As the guide says; what it needs is there.
    console.log(
      inside(path, 'apt-get', 'install', '-y', '-qq', '/signage-player-0.1.0-amd64.deb', 'foot-').slice(-600),
    );
    use({ path, uuid });
  } finally {
    execFileSync('umount', [path]);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
};
