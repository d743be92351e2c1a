/** A slot: Debian's packages from the lock, the player's, and what makes it a box, in a squashfs. Without root where Debian allows it. */
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../bundles.ts';
import { layoutVariables } from './layout.ts';
import { release } from './lock.ts';
import { run } from './run.ts';

/** What the box is asked to start, and what it never starts. */
const enabled = [
  'signage-storage.service',
  'signage-config.path',
  'signage-config.service',
  'signage-rejoin.timer',
  'signage-trial.timer',
  'signage-watchdog.service',
  'NetworkManager.service',
  'systemd-timesyncd.service',
];
const masked = [
  ...[
    'getty@.service',
    'serial-getty@.service',
    'console-getty.service',
    'container-getty@.service',
    'autovt@.service',
  ],
  ...[
    'debug-shell.service',
    'ctrl-alt-del.target',
    'apt-daily.timer',
    'apt-daily-upgrade.timer',
    'dpkg-db-backup.timer',
  ],
  // Nobody has a password, so nobody could do anything there.
  'rescue.service',
  // What is formatted and mounted, storage decides.
  ...['systemd-repart.service', 'systemd-growfs-root.service'],
];

/** GRUB for BIOS, linked by Debian 13's own program, where it runs. */
const modules = [
  ...['biosdisk', 'part_gpt', 'fat', 'squash4', 'normal', 'configfile', 'linux', 'loadenv', 'test', 'echo', 'regexp'],
  ...['probe', 'sleep', 'reboot', 'gzio', 'xzio'],
];
/** The number of the partition with GRUB's files. */
const prefix = '(,gpt2)/grub';

export interface Parts {
  /** Paths of packages of Debian, with what they need. */
  debs: readonly string[];
  player: string;
  /** A folder with what stands in for the runtime; absent: nothing does. */
  standIn?: string;
  /** A folder with the unpacked packages that start the machine. */
  boot: string;
  /** A file with the certificates that may sign updates of the system. */
  keyring: string;
  version: string;
  /** The time of all files, s since the epoch. */
  at: number;
}

/** A tar whose files are root's. */
const pack = (folder: string, tar: string, at: number): string => {
  const same = [
    '--sort=name',
    `--mtime=@${at}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=go-w',
    '--format=gnu',
  ];
  run('tar', [...same, '--create', '--file', tar, '--directory', folder, '.']);
  return tar;
};

/** A repository with nothing but these packages, so that exactly they are installed. */
const makeRepository = (folder: string, debs: readonly string[]): void => {
  mkdirSync(folder);
  for (const deb of debs) copyFileSync(deb, join(folder, basename(deb)));
  const weak = ['MD5', 'SHA1', 'SHA512'].flatMap((name) => ['-o', `APT::FTPArchive::${name}=false`]);
  const ask = (...args: string[]): string =>
    run('sh', ['-c', 'cd "$1" && shift && exec apt-ftparchive "$@"', 'sh', folder, ...args]);
  writeFileSync(join(folder, 'Packages'), ask(...weak, 'packages', '.'));
  // mmdebstrap takes the essential packages of a suite.
  const names = ['Suite', 'Codename'].flatMap((name) => ['-o', `APT::FTPArchive::Release::${name}=${release}`]);
  writeFileSync(join(folder, 'Release'), ask(...names, 'release', '.'));
};

/** The hooks of mmdebstrap that run when all packages of Debian are there; `$1` is the system. */
const finish = ({ player, standIn, boot }: Parts, work: string, at: number): string[] => {
  const inside = (command: string): string => `chroot "$1" sh -euc '${command}'`;
  const copy = (folder: string, to: string): string =>
    `tar-in ${pack(folder, join(work, `${basename(to) || 'root'}.tar`), at)} ${to}`;
  return [
    // The data of a box outlive the image, with the number of their account; no other package is given this one.
    inside('systemd-sysusers --inline "u signage 500 - /var/lib/signage-player /usr/sbin/nologin"'),
    `copy-in ${player} /tmp`,
    inside(`dpkg --install /tmp/${basename(player)} && rm /tmp/${basename(player)}`),
    // Debian 13 lets a sandbox use user namespaces; the answer must not depend on where this runs.
    inside('chmod 4755 "/opt/Signage Player/chrome-sandbox"'),
    ...(standIn === undefined ? [] : ['mkdir "$1/standin"', copy(standIn, '/standin')]),
    'mkdir "$1/tmp/grub"',
    copy(boot, '/tmp/grub'),
    inside(
      `LD_LIBRARY_PATH=/tmp/grub/usr/lib/x86_64-linux-gnu /tmp/grub/usr/bin/grub-mkimage -d /tmp/grub/usr/lib/grub/i386-pc -O i386-pc -p "${prefix}" -o /tmp/grub/core.img ${modules.join(' ')}`,
    ),
    `copy-out /tmp/grub/core.img ${work}`,
    'rm -rf "$1/tmp/grub"',
    inside(`systemctl enable ${enabled.join(' ')}`),
    inside(`systemctl mask ${masked.join(' ')}`),
    inside('mkdir -p /efi /boot/firmware'),
    // The data begin empty: each folder that a package has there is made at the start.
    inside(
      'find /var -mindepth 1 ( -path /var/lib/dpkg -o -path /var/lib/apt -o -path "/var/cache/*" ) -prune -o -type d -printf "d %p %m %u %g -\\\\n" | sort >/usr/lib/tmpfiles.d/zz-signage.conf'.replace(
        /[()]/g,
        '\\$&',
      ),
    ),
    inside('update-initramfs -u -k all'),
    inside('ln -sf boot/vmlinuz-* /vmlinuz && ln -sf boot/initrd.img-* /initrd.img'),
    // Of the system that builds it, or another on each box.
    inside(
      'rm -f /etc/hostname /var/lib/dbus/machine-id /etc/*- /etc/dpkg/dpkg.cfg.d/99mmdebstrap && : >/etc/machine-id',
    ),
    inside('ln -sf /run/NetworkManager/resolv.conf /etc/resolv.conf'),
    'find "$1/var" "$1/tmp" "$1/run" -xdev -mindepth 1 -delete',
  ];
};

/**
 * Debian's packages alone, which take the longest: made once for a lock.
 * @returns a tar
 */
const buildBase = (debs: readonly string[], cache: string, work: string, env: NodeJS.ProcessEnv): string => {
  const left = ['man', 'locale', 'doc'].map((name) => `path-exclude=/usr/share/${name}/*`);
  const options = [
    ...['--variant=essential', '--format=tar', `--include=${debs.map((deb) => basename(deb).split('_')[0]).join(',')}`],
    ...['APT::Install-Recommends "false"', 'Acquire::Languages "none"'].map((line) => `--aptopt=${line}`),
    ...['force-unsafe-io', ...left, 'path-include=/usr/share/doc/*/copyright'].map((line) => `--dpkgopt=${line}`),
  ];
  const key = createHash('sha256').update(JSON.stringify([debs.map((deb) => basename(deb)), options, env]));
  const base = join(cache, `base-${key.digest('hex').slice(0, 16)}.tar`);
  if (existsSync(base)) return base;
  const repository = join(work, 'repository');
  makeRepository(repository, debs);
  const source = `deb [trusted=yes] copy://${repository} ./`;
  run('mmdebstrap', [...options, release, `${base}.part`, source], env);
  renameSync(`${base}.part`, base);
  return base;
};

/**
 * Builds a slot.
 * @param cache a folder for what later builds can use
 * @returns its file, and GRUB's core for BIOS
 */
export const buildRoot = (parts: Parts, cache: string, work: string): { slot: string; core: string } => {
  const { debs, version, keyring, at } = parts;
  const env = { SOURCE_DATE_EPOCH: String(at) };
  const base = buildBase(debs, cache, work, env);
  const overlay = join(work, 'overlay');
  cpSync(join(root, 'resources', 'image', 'root'), overlay, { recursive: true });
  writeFileSync(join(overlay, 'usr', 'lib', 'signage', 'layout'), layoutVariables());
  writeFileSync(join(overlay, 'usr', 'lib', 'signage', 'version'), `${version}\n`);
  // No bundle takes a box back to an older version; its own faults do, by the other slot.
  appendFileSync(join(overlay, 'etc', 'rauc', 'system.conf'), `min-bundle-version=${version}\n`);
  copyFileSync(keyring, join(overlay, 'etc', 'rauc', 'keyring.pem'));
  const tar = join(work, 'root.tar');
  const options = [
    ...['--variant=custom', '--format=tar', '--skip=update,cleanup/apt'],
    `--setup-hook=tar --extract --numeric-owner --xattrs --xattrs-include='*' --file ${base} --directory "$1"`,
    `--customize-hook=tar-in ${pack(overlay, join(work, 'overlay.tar'), at)} /`,
    ...finish(parts, work, at).map((hook) => `--customize-hook=${hook}`),
  ];
  run('mmdebstrap', [...options, release, tar, ''], env);
  const slot = join(work, 'slot.squashfs');
  // GRUB reads gzip and xz; gzip starts faster.
  const compression = ['-quiet', '-no-progress', '-comp', 'gzip', '-reproducible'];
  run('sh', ['-c', 'exec sqfstar "$@" <"$0"', tar, ...compression, slot], env);
  return { slot, core: join(work, 'core.img') };
};
