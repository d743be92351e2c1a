/** The scripts that root runs on a kiosk, below a folder that takes the place of /. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { titleOf } from '../../main/windows/displays.ts';
import { isCi } from '../support/machine.ts';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';
import { publicKey, writeRelease } from '../updates/release.ts';

const execute = promisify(execFile);
const scripts = join(import.meta.dirname, '..', '..', 'resources', 'linux');

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => lstatSync(join(folder, path)).isFile())
    .toSorted();

/** Where the deb puts files outside of /opt, but for the guide, by their names in the folder of the scripts. */
const placed = (parse(readFileSync(join(scripts, '..', '..', 'electron-builder.yml'), 'utf8')).deb.fpm as string[])
  .map((words) => words.split('=/'))
  .flatMap(([from = '', to]) =>
    to === undefined || from.endsWith('/') ? [] : [[join(scripts, '..', '..', from), to] as const],
  );

const hasSystemd = ['systemctl', 'systemd-sysusers'].every((name) => findProgram(name) !== undefined);

describe.skipIf(!hasSystemd && !isCi)('kiosk-setup', () => {
  const setupWith = (PATH: string | undefined, DESTDIR: string, ...args: string[]) =>
    execute('bash', [join(scripts, 'kiosk-setup'), ...args], { env: { PATH, DESTDIR } });
  const setup = (DESTDIR: string, ...args: string[]) => setupWith(process.env.PATH, DESTDIR, ...args);

  /** A system in which the package is unpacked, without its scripts. */
  const unpack = (): string => {
    const system = temporaryFolder();
    for (const [from, to] of placed) {
      mkdirSync(dirname(join(system, to)), { recursive: true });
      cpSync(from, join(system, to));
    }
    mkdirSync(join(system, 'etc'));
    for (const name of ['graphical', 'multi-user'])
      writeFileSync(join(system, `usr/lib/systemd/system/${name}.target`), '[Unit]\n');
    return system;
  };
  const etc = (system: string): string[] =>
    readdirSync(join(system, 'etc'), { recursive: true, encoding: 'utf8' })
      .filter(
        (path) =>
          !lstatSync(join(system, 'etc', path)).isDirectory() && /signage|ctrl-alt|power-switch|local-fs/.test(path),
      )
      .toSorted();
  const wanted = [
    'systemd/system/graphical.target.wants/signage-player.service',
    'systemd/system/multi-user.target.wants/signage-player-update.path',
  ];
  const hardened = [
    'default/grub.d/signage-player.cfg',
    'grub.d/01_signage-player',
    'sysctl.d/90-signage-player.conf',
    'systemd/journald.conf.d/signage-player.conf',
    'systemd/logind.conf.d/signage-player.conf',
    'systemd/system.conf.d/signage-player.conf',
    'systemd/system/basic.target.d/signage-player.conf',
    'systemd/system/ctrl-alt-del.target',
    'systemd/system/emergency.service.d/10-signage-player.conf',
    'systemd/system/local-fs.target',
    'udev/rules.d/70-power-switch.rules',
  ];

  test('makes a system in which nothing runs a kiosk, twice over too, and takes all of it away again', async () => {
    const system = unpack();
    const before = filesBelow(system);
    const target = join(system, 'etc/systemd/system/default.target');
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync('/usr/lib/systemd/system/multi-user.target', target);
    const config = join(temporaryFolder(), 'mine.json');
    writeFileSync(config, '{}');
    for (const _ of [1, 2]) await setup(system, 'install', '--config', config);
    expect(etc(system)).toEqual([...hardened, ...wanted, 'signage-player/config.json'].toSorted());
    expect(readFileSync(join(system, 'etc/passwd'), 'utf8')).toMatch(
      /^signage:.*:\/var\/lib\/signage-player:.*nologin$/m,
    );
    expect(statSync(join(system, 'var/lib/signage-player')).isDirectory()).toBe(true);
    // For lines of the site's own.
    expect(existsSync(join(system, 'etc/signage-player/sway.d'))).toBe(true);
    expect(statSync(join(system, 'usr/lib/signage-player/update-player')).mode & 0o111).toBe(0o111);
    expect(statSync(join(system, 'etc/grub.d/01_signage-player')).mode & 0o111).toBe(0o111);
    // It would stay as it is, black, else.
    expect(readFileSync(join(system, 'etc/systemd/system.conf.d/signage-player.conf'), 'utf8')).toMatch(
      /^CrashAction=reboot$[^]*^CrashReboot=yes$/m,
    );
    expect(readlinkSync(target)).toMatch(/graphical\.target$/);
    for (const unit of ['signage-player', 'signage-player-headless']) {
      mkdirSync(join(system, `etc/systemd/system/${unit}.service.d`), { recursive: true });
      writeFileSync(join(system, `etc/systemd/system/${unit}.service.d/own.conf`), '[Service]\n');
    }
    await setup(system, 'remove');
    // Those of the service without a display are not the kiosk's.
    rmSync(join(system, 'etc/systemd/system/signage-player-headless.service.d/own.conf'));
    expect(readlinkSync(target)).toBe('/usr/lib/systemd/system/multi-user.target');
    expect(etc(system)).toEqual([]);
    expect(filesBelow(system).filter((path) => /signage/.test(path))).toEqual(
      before.filter((path) => /signage/.test(path)),
    );
    await setup(system, 'remove');
  });

  test('what root runs is the old or the new one, also where the power goes before the new one is on the disk', async () => {
    const system = unpack();
    const bin = temporaryFolder();
    const path = join(system, 'usr/lib/signage-player/update-player');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'old');
    writeFileSync(join(bin, 'sync'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(bin, 'sync'), 0o755);
    await expect(setupWith(`${bin}${delimiter}${process.env.PATH}`, system, 'install')).rejects.toThrow();
    expect(readFileSync(path, 'utf8')).toBe('old');
    await setup(system, 'install');
    const { ino } = statSync(path);
    expect(readFileSync(path, 'utf8')).toBe(readFileSync(join(scripts, 'update-player'), 'utf8'));
    await setup(system, 'install');
    expect(statSync(path).ino).toBe(ino);
    expect(filesBelow(system).filter((each) => each.endsWith('.dpkg-new'))).toEqual([]);
  });

  test('leaves boot menu, consoles and keys of a desktop alone', async () => {
    const system = unpack();
    mkdirSync(join(system, 'etc/systemd/system'), { recursive: true });
    writeFileSync(join(system, 'etc/systemd/system/display-manager.service'), '');
    await setup(system, 'install');
    expect(etc(system)).toEqual(wanted);
    expect(readdirSync(join(system, 'etc/systemd/system'))).not.toContain('default.target');
  });

  test('starts another program by a drop-in', async () => {
    const system = unpack();
    await setup(system, 'install', '--program', '/opt/My Player/player');
    const path = join(system, 'etc/systemd/system/signage-player.service.d/program.conf');
    expect(readFileSync(path, 'utf8')).toContain(
      'ExecStart=\nExecStart=/usr/lib/signage-player/session "/opt/My Player/player"',
    );
  });

  test.each([
    ['no action', [], /install, boot-password or remove/],
    ['another action', ['begin'], /install, boot-password or remove/],
    ['a relative program', ['install', '--program', 'player'], /absolute path/],
    ['a program with a quote', ['install', '--program', '/opt/"x'], /is not allowed in a unit file/],
    ['no such file', ['install', '--config', '/nowhere/config.json'], /there is no file/],
    ['an option without a value', ['install', '--config'], /needs a value/],
    ['no such option', ['install', '--colour', 'blue'], /no option --colour/],
    ['a system without the package', ['install'], /the package is not installed in/],
  ])('refuses %s, and changes nothing', async (_, args, reason) => {
    const destination = temporaryFolder();
    await expect(setup(destination, ...args)).rejects.toThrow(reason);
    expect(filesBelow(destination)).toEqual([]);
  });
});

test.runIf(findProgram('sh') !== undefined)(
  "GRUB's menu is locked, for everybody or but for who has the password",
  async () => {
    const script = readFileSync(join(scripts, 'etc/grub.d/01_signage-player'), 'utf8');
    const file = join(temporaryFolder(), 'boot-password');
    const print = async () =>
      (await execute('sh', ['-c', script.replaceAll('/etc/signage-player/boot-password', file)])).stdout;
    expect(await print()).toMatch(/^set superusers="signage"$[^]*^set color_normal=black\/black$/m);
    writeFileSync(file, 'grub.pbkdf2.sha512.10000.AB.CD\n');
    expect(await print()).toMatch(/^password_pbkdf2 signage grub\.pbkdf2\.sha512\.10000\.AB\.CD$/m);
  },
);

const hasSway = findProgram('sway') !== undefined;
test.skipIf(!hasSway && process.env.CI !== 'true')('sway understands its configuration', async () => {
  const folder = temporaryFolder();
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const validate = (text: string) => {
    const file = join(folder, 'sway.conf');
    writeFileSync(file, text);
    const env = { PATH: process.env.PATH, XDG_RUNTIME_DIR: folder, WLR_BACKENDS: 'headless', WLR_RENDERER: 'pixman' };
    return execute('sway', ['--validate', '--config', file], { ...user, env });
  };
  const text = readFileSync(join(scripts, 'sway.conf'), 'utf8');
  await validate(text);
  await expect(validate(`${text}unknown_command\n`)).rejects.toThrow(/unknown_command/);
});

test('in the session the windows of the player fill their outputs, and dialogs are closed', () => {
  const text = readFileSync(join(scripts, 'sway.conf'), 'utf8');
  const [filling = '', closed = ''] = ['fullscreen enable', 'kill'].map(
    (command) => new RegExp(`^for_window \\[.*title="(.+)"\\] ${command}$`, 'm').exec(text)?.[1],
  );
  const titles = [titleOf({ id: 11 }), 'Print', 'Open file'];
  expect(titles.map((title) => new RegExp(filling).test(title))).toEqual([true, false, false]);
  expect(titles.map((title) => new RegExp(closed).test(title))).toEqual([false, true, true]);
});

const tools = ['openssl', 'dpkg', 'dpkg-deb', 'awk', 'flock'];
const isComplete = tools.every((name) => findProgram(name) !== undefined);

describe.skipIf(!isComplete && process.env.CI !== 'true')('update-player', () => {
  /** What the deb has outside of /opt, but for what makes accounts and folders. */
  const system = placed.filter(([, to]) => !/\/(sysusers|tmpfiles)\.d\//.test(to));
  /** Writes a version's files, as its package has them, below a folder that takes the place of /. */
  const writeVersion = (folder: string, version: string): void => {
    const app = join(folder, 'opt', 'Signage Player');
    for (const [from, to] of system) {
      for (const path of [join(folder, to), join(app, 'resources/linux', relative(scripts, from))]) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, `${basename(to)} ${version}`);
      }
    }
    writeFileSync(join(app, 'version'), version);
  };
  /** The versions of what lies outside of /opt. */
  const versionsIn = (root: string): string[] => [
    ...new Set(system.map(([, to]) => readFileSync(join(root, to), 'utf8').split(' ').at(-1) ?? '')),
  ];

  /** A real package of the player, which says its version. */
  const buildPackage = async (version: string, name = 'signage-player', depends = 'sway'): Promise<Buffer> => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'tree', 'DEBIAN'), { recursive: true });
    const control = `Package: ${name}\nVersion: ${version}\nArchitecture: all\nDepends: ${depends}\nMaintainer: x <x@localhost>\nDescription: x\n`;
    writeFileSync(join(folder, 'tree', 'DEBIAN', 'control'), control);
    writeVersion(join(folder, 'tree'), version);
    const options = ['-Znone', '--root-owner-group'];
    await execute('dpkg-deb', [...options, '--build', join(folder, 'tree'), join(folder, 'player.deb')]);
    return readFileSync(join(folder, 'player.deb'));
  };

  /** A machine with version 1.0.0, and an order and a release in the player's folder. */
  const machine = async ({ order = 'install' } = {}) => {
    const root = temporaryFolder();
    const app = join(root, 'opt', 'Signage Player');
    const updates = join(root, 'var/lib/signage-player/updates');
    const bin = join(root, 'bin');
    const calls = join(root, 'calls');
    const states = join(root, 'states');
    mkdirSync(join(app, 'resources'), { recursive: true });
    mkdirSync(updates, { recursive: true });
    mkdirSync(bin);
    writeVersion(root, '1.0.0');
    writeFileSync(join(app, 'resources', 'update-key.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
    writeFileSync(join(updates, 'order'), `${order}\n`);
    const dpkg = findProgram('dpkg');
    // What lies in the player's folders is touched as the player: root would follow its links.
    const guarded = Object.fromEntries(
      ['cat', 'find', 'grep', 'head', 'mv', 'rm', 'tail'].map((name) => [
        name,
        `case "$*" in *'${join(root, 'var/lib/signage-player')}'*) [ -n "$AS_PLAYER" ] || { echo "root: ${name} $*" >>'${calls}'; exit 1; } ;; esac
        exec ${findProgram(name)} "$@"`,
      ]),
    );
    const programs = {
      ...guarded,
      // No file that root has open comes into the player's hands.
      runuser: `[ "$1 $2 $3" = "-u signage --" ] || exit 1
        for fd in 0 1 2; do [ ! -f /proc/$$/fd/$fd ] || { echo "root's descriptor $fd: $*" >>'${calls}'; exit 1; }; done
        AS_PLAYER=1; export AS_PLAYER; shift 3; exec "$@"`,
      // Tells the states of the player one after the other, and goes on with the last one.
      systemctl: `[ "$1" = show ] || exec echo "systemctl $*" >> '${calls}'
        head -n 1 '${states}'; [ "$(wc -l < '${states}')" -lt 2 ] || sed -i 1d '${states}'`,
      // The disk and the journal are those of this computer.
      fstrim: ':',
      journalctl: `echo "journalctl $*" >> '${calls}'`,
      'systemd-run': `echo "systemd-run $*" >> '${calls}'`,
      'dpkg-query': `case $2 in *Depends*) printf 'libnss3, sway' ;; *) cat '${root}/counted' 2>/dev/null || cat '${app}/version' ;; esac`,
      // The package is unpacked for real, as dpkg does: new files take the places of old ones.
      dpkg: `case $1 in
        --install) unpack() { dpkg-deb --fsys-tarfile "$1" | tar -x -C '${root}' -f -; }; . '${root}/dpkg-install' ;;
        *) exec '${dpkg}' "$@" ;;
      esac`,
    };
    for (const [name, body] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
      chmodSync(join(bin, name), 0o755);
    }
    const playerIs = (...each: string[]) => writeFileSync(states, `${each.join('\n')}\n`);
    playerIs('failed');
    const dpkgDoes = (script: string) => writeFileSync(join(root, 'dpkg-install'), script);
    dpkgDoes('unpack "$2"');
    const env = {
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      ROOT: root,
      RESCUE_SECONDS: '0',
      GRACE_SECONDS: '0',
      RESCUE_PATIENCE: '2',
    };
    return {
      root,
      app,
      updates,
      ready: join(updates, 'ready'),
      givenUp: join(updates, 'given-up'),
      dpkgDoes,
      playerIs,
      run: (action: string) => execute('bash', [join(scripts, 'update-player'), action], { env }),
      version: () => readFileSync(join(app, 'version'), 'utf8'),
      order: (word: string) => writeFileSync(join(updates, 'order'), `${word}\n`),
      calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []),
    };
  };

  test('installs a signed release, keeps what ran, and goes back to it', async () => {
    const { root, ready, run, version, updates, order, calls } = await machine();
    writeRelease(ready, { version: '2.0.0', bytes: await buildPackage('2.0.0') });
    await run('order');
    expect([version(), versionsIn(root), existsSync(join(updates, 'order'))]).toEqual(['2.0.0', ['2.0.0'], false]);
    const restart = 'systemctl restart signage-player.service';
    expect(calls()).toEqual([restart]);
    order('install');
    await expect(run('order')).rejects.toThrow(/is not newer than what is installed/);
    order('roll-back');
    await run('order');
    expect([version(), versionsIn(root), calls()]).toEqual([
      '1.0.0',
      ['1.0.0'],
      [restart, 'systemctl daemon-reload', restart],
    ]);
    order('roll-back');
    await expect(run('order')).rejects.toThrow(/no version is kept/);
  });

  test.each<[string, (made: Awaited<ReturnType<typeof machine>>) => Promise<void>, RegExp]>([
    [
      'another signature',
      async ({ ready }) => {
        const { generateKeyPairSync } = await import('node:crypto');
        writeRelease(ready, {
          version: '2.0.0',
          bytes: await buildPackage('2.0.0'),
          signedWith: generateKeyPairSync('ed25519').privateKey,
        });
      },
      /not signed with the key/,
    ],
    [
      'another file than was signed for',
      async ({ ready }) => {
        writeRelease(ready, { version: '2.0.0', bytes: await buildPackage('2.0.0') });
        writeFileSync(join(ready, 'signage-player-2.0.0-amd64.deb'), await buildPackage('2.0.1'));
      },
      /is not what was signed/,
    ],
    [
      'an older version',
      async ({ ready }) => {
        writeRelease(ready, { version: '0.9.0', bytes: await buildPackage('0.9.0') });
      },
      /not newer/,
    ],
    [
      "another program's package",
      async ({ ready }) => {
        writeRelease(ready, { version: '2.0.0', bytes: await buildPackage('2.0.0', 'openssh-server') });
      },
      /is a package of openssh-server/,
    ],
    [
      'a package that needs what the machine may lack',
      async ({ ready }) => {
        const bytes = await buildPackage('2.0.0', 'signage-player', 'sway, bubblewrap, libnss3');
        writeRelease(ready, { version: '2.0.0', bytes });
      },
      /also needs bubblewrap, which an update does not bring/,
    ],
    [
      'metadata that no release has the size of',
      async ({ ready }) =>
        writeRelease(ready, { version: '2.0.0', bytes: await buildPackage('2.0.0'), more: '#'.repeat(300_000) }),
      /cannot be read, or is too large/,
    ],
    [
      'metadata that are a link',
      async ({ ready }) => {
        mkdirSync(ready);
        symlinkSync('/dev/zero', join(ready, process.arch === 'arm64' ? 'latest-linux-arm64.yml' : 'latest-linux.yml'));
      },
      /there is no release/,
    ],
    ['no release', async () => {}, /there is no release/],
    ['an order that is none', async ({ order }) => order('$(reboot)'), /no order that is known/],
  ])('refuses %s, and leaves what runs', async (_, prepare, reason) => {
    const made = await machine();
    await prepare(made);
    await expect(made.run('order')).rejects.toThrow(reason);
    expect([made.version(), made.calls(), existsSync(join(made.updates, 'order'))]).toEqual(['1.0.0', [], false]);
  });

  test('stops the kiosk where it is told to quit, which systemd would start again', async () => {
    const { run, version, calls } = await machine({ order: 'quit' });
    await run('order');
    expect([version(), calls()]).toEqual([
      '1.0.0',
      ['systemctl stop signage-player.service', 'systemctl start getty@tty1.service'],
    ]);
  });

  test.each([
    ['reboot', 'systemctl reboot'],
    ['power-off', 'systemctl poweroff'],
  ])('%s is what systemd is told', async (order, call) => {
    const { run, updates, calls } = await machine({ order });
    await run('order');
    expect([calls(), existsSync(join(updates, 'order'))]).toEqual([[call], false]);
  });

  test('a reset removes all that the player keeps and what it has imported, and goes on after a power cut', async () => {
    const { root, run, updates, calls } = await machine();
    const data = join(root, 'var/lib/signage-player');
    const outside = join(root, 'srv/media');
    const imported = [
      'etc/signage-player/config.json',
      'boot/firmware/config.json',
      'opt/Signage Player/config.json',
      'opt/Signage Player.kept/config.json',
    ].map((path) => join(root, path));
    const foreign = join(root, 'boot/config.json');
    const kept = join(root, 'home/kept');
    for (const path of [...imported, foreign, join(outside, 'x'), join(data, 'media/y'), kept]) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, path === foreign ? 'foreign' : 'mine');
    }
    symlinkSync(dirname(kept), join(data, 'link'));
    writeFileSync(join(updates, 'state.json'), '{}');
    writeFileSync(join(data, 'config.imported'), `${createHash('sha256').update('mine').digest('hex')}\n`);
    writeFileSync(join(updates, 'order'), `reset\n${outside}\n${join(root, 'nowhere')}`);
    // The power went after the order was taken.
    renameSync(join(updates, 'order'), join(updates, 'reset'));
    await run('order');
    expect(calls()).toEqual(['systemctl stop signage-player.service', 'systemctl start signage-player.service']);
    expect([readdirSync(data), readdirSync(outside)]).toEqual([[], []]);
    expect([...imported, foreign, kept].map((path) => existsSync(path))).toEqual([
      false,
      false,
      false,
      false,
      true,
      true,
    ]);
    mkdirSync(updates);
    writeFileSync(join(updates, 'order'), 'reset\n');
    await run('order');
    expect([readdirSync(data), calls().length]).toEqual([[], 4]);
  });

  describe('in an image', () => {
    /** A box that runs slot B. @param trial the slot on trial @param rauc what RAUC's program does */
    const imageBox = async ({ order = 'install', trial = '', rauc = 'true' }) => {
      const made = await machine({ order });
      const own = join(made.root, 'usr/lib/signage');
      mkdirSync(own, { recursive: true });
      mkdirSync(join(made.root, 'var/lib/signage'), { recursive: true });
      writeFileSync(join(own, 'layout'), '');
      const calls = join(made.root, 'calls');
      const answers = `case "$*" in 'get TRIAL') echo '${trial}' ;; get-current) echo B ;; *) echo "boot-state $*" >>'${calls}' ;; esac`;
      for (const [path, body] of [
        [join(own, 'boot-state'), answers],
        [join(own, 'forget-config'), `echo "forget-config $*" >>'${calls}'`],
        [join(made.root, 'bin', 'rauc'), `echo "rauc $*" >>'${calls}'\n${rauc}`],
      ] as const) {
        writeFileSync(path, `#!/bin/sh\n${body}\n`);
        chmodSync(path, 0o755);
      }
      return { ...made, fault: join(made.root, 'var/lib/signage/update-fault') };
    };

    test('RAUC writes a bundle to the other slot, and the machine starts from there', async () => {
      const { ready, run, calls, fault } = await imageBox({});
      writeRelease(ready, { version: '2.0.0', kind: 'image' });
      writeFileSync(fault, 'of earlier');
      await run('order');
      const bundle = join(ready, 'signage-player-2.0.0-amd64.raucb');
      expect(calls()).toEqual(['boot-state set LEFT= WHY=', `rauc install ${bundle}`, 'systemctl reboot']);
      expect(existsSync(fault)).toBe(false);
    });

    test('a reset ends with a start of the machine, which gets its names, its network and its journal anew', async () => {
      const { run, updates, calls } = await imageBox({ order: 'reset' });
      await run('order');
      const journal = 'journalctl --rotate --vacuum-time=1s';
      expect([calls(), existsSync(updates)]).toEqual([
        ['systemctl stop signage-player.service', 'forget-config even-kept', journal, 'systemctl reboot'],
        false,
      ]);
    });

    test('a reset leaves no password of a Wi-Fi, also where one is being set', async () => {
      const { root, run, calls } = await imageBox({ order: 'reset' });
      const unit = join(root, 'usr/lib/systemd/system/signage-network.service');
      mkdirSync(dirname(unit), { recursive: true });
      writeFileSync(unit, '');
      const nmcli = join(root, 'bin', 'nmcli');
      writeFileSync(nmcli, `#!/bin/sh\necho "nmcli $*" >>'${join(root, 'calls')}'\nexit 10\n`);
      chmodSync(nmcli, 0o755);
      await run('order');
      expect(calls()).toEqual([
        'systemctl stop signage-player.service',
        'forget-config even-kept',
        'systemctl stop signage-network.service signage-hotspot.service',
        'nmcli connection delete id signage',
        'nmcli connection delete id signage-next',
        'journalctl --rotate --vacuum-time=1s',
        'systemctl reboot',
      ]);
    });

    test('the Wi-Fi of the box itself keeps no other order waiting, and ends with the next for it', async () => {
      const { root, run, calls } = await imageBox({ order: 'hotspot-open' });
      await run('order');
      const start = `--quiet --collect --no-block --unit=signage-hotspot ${root}/usr/lib/signage/hotspot open`;
      expect(calls()).toEqual(['systemctl stop signage-hotspot.service', `systemd-run ${start}`]);
    });

    test('what RAUC refuses is told, and nothing starts anew', async () => {
      const rauc = `echo 'LastError: signature verification failed: self-signed certificate'; exit 1`;
      const { ready, run, calls, fault } = await imageBox({ rauc });
      await expect(run('order')).rejects.toThrow(/there is no system to install/);
      mkdirSync(ready, { recursive: true });
      symlinkSync('/dev/zero', join(ready, 'link.raucb'));
      writeFileSync(join(dirname(ready), 'order'), 'install\n');
      await expect(run('order')).rejects.toThrow(/there is no system to install/);
      writeRelease(ready, { version: '2.0.0', kind: 'image' });
      writeFileSync(join(dirname(ready), 'order'), 'install\n');
      await expect(run('order')).rejects.toThrow(/self-signed certificate/);
      expect(readFileSync(fault, 'utf8')).toBe(
        'signage-player-2.0.0-amd64.raucb: signature verification failed: self-signed certificate\n',
      );
      const bundle = join(ready, 'signage-player-2.0.0-amd64.raucb');
      expect(calls().slice(1)).toEqual([`rauc install ${bundle}`, 'boot-state report']);
    });

    test.each<[string, string, string, string[]]>([
      ['keep', 'the slot on trial', 'B', ['boot-state set-state B good', 'boot-state report']],
      ['keep', 'a slot that is settled', '', ['boot-state report']],
      ['roll-back', 'the slot on trial', 'B', ['boot-state set-state B bad', 'systemctl reboot']],
    ])('%s judges %s', async (order, _, trial, expected) => {
      const { run, calls } = await imageBox({ order, trial });
      await run('order');
      expect(calls()).toEqual(expected);
    });

    test('no player gives up a slot that is settled, nor gets a login', async () => {
      const { run, calls, order } = await imageBox({ order: 'roll-back', trial: 'A' });
      await expect(run('order')).rejects.toThrow(/is not on trial/);
      order('quit');
      await expect(run('order')).rejects.toThrow(/no login/);
      expect(calls()).toEqual([]);
    });

    test('a player that does not start in a trial is left to the count of starts', async () => {
      const { run, calls } = await imageBox({ trial: 'B' });
      await run('rescue');
      expect(calls()).toEqual(['systemctl reboot']);
    });
  });

  test('puts back what ran where the package fails half way', async () => {
    const { ready, run, version, dpkgDoes, givenUp, app } = await machine();
    dpkgDoes('unpack "$2"; exit 1');
    writeRelease(ready, { version: '2.0.0', bytes: await buildPackage('2.0.0') });
    await run('order');
    expect(version()).toBe('1.0.0');
    expect([existsSync(givenUp), existsSync(`${app}.installing`)]).toEqual([true, false]);
  });

  test('what runs is not disturbed where dpkg cannot begin, as while another one runs', async () => {
    const { ready, run, version, dpkgDoes, givenUp, app, calls } = await machine();
    dpkgDoes('exit 2');
    writeRelease(ready, { version: '2.0.0', bytes: await buildPackage('2.0.0') });
    await expect(run('order')).rejects.toThrow(/nothing was changed/);
    expect([version(), calls(), existsSync(givenUp), existsSync(`${app}.installing`)]).toEqual([
      '1.0.0',
      [],
      false,
      false,
    ]);
  });

  test('an installation that a power cut ends is undone before the next start, and may be repeated', async () => {
    const { root, ready, run, version, dpkgDoes, givenUp, order } = await machine();
    const unit = readFileSync(join(scripts, 'signage-player.service'), 'utf8');
    expect(unit).toMatch(/^ExecStartPre=-\+\/usr\/lib\/signage-player\/update-player heal$/m);
    dpkgDoes('unpack "$2"; kill -9 "$PPID"');
    writeRelease(ready, { version: '2.0.0', bytes: await buildPackage('2.0.0') });
    await expect(run('order')).rejects.toThrow();
    expect(version()).toBe('2.0.0');
    await run('heal');
    expect([version(), existsSync(givenUp)]).toEqual(['1.0.0', false]);
    await run('heal');
    expect(version()).toBe('1.0.0');
    // dpkg may have come to its end.
    writeFileSync(join(root, 'counted'), '2.0.0');
    // A start of the player meanwhile disturbs nothing.
    dpkgDoes(`unpack "$2"; bash '${join(scripts, 'update-player')}' heal`);
    order('install');
    await run('order');
    await run('heal');
    expect(version()).toBe('2.0.0');
    order('install');
    await expect(run('order')).rejects.toThrow(/is not newer than what is installed/);
  });

  test('what ran is there again where a power cut came between the two steps that put it back', async () => {
    const { app, run, version, order } = await machine();
    cpSync(app, `${app}.kept`, { recursive: true });
    renameSync(app, `${app}.bad`);
    await run('heal');
    expect(version()).toBe('1.0.0');
    renameSync(app, `${app}.kept`);
    order('roll-back');
    await run('order');
    expect(version()).toBe('1.0.0');
  });

  test('rescues: an update on trial goes, anything else is tried again', async () => {
    const { root, app, updates, run, version, calls, givenUp, playerIs } = await machine();
    // Somebody stops it while the rescue waits.
    playerIs('failed', 'inactive');
    await run('rescue');
    expect(calls()).toEqual([]);
    playerIs('failed');
    await run('rescue');
    expect([version(), calls().at(-1)]).toEqual(['1.0.0', 'systemctl restart signage-player.service']);
    cpSync(app, `${app}.kept`, { recursive: true });
    writeVersion(root, '2.0.0');
    writeFileSync(join(updates, 'state.json'), '{"trial":null,"failed":[]}\n');
    await run('rescue');
    expect([version(), existsSync(givenUp)]).toEqual(['2.0.0', false]);
    const trial = { version: '2.0.0', from: '1.0.0', starts: [] };
    writeFileSync(join(updates, 'state.json'), `${JSON.stringify({ trial, failed: [] })}\n`);
    // systemd starts it again.
    playerIs('activating', 'active');
    await run('rescue');
    expect([version(), existsSync(givenUp)]).toEqual(['2.0.0', false]);
    // It hangs.
    playerIs('activating');
    await run('rescue');
    expect([version(), versionsIn(root), existsSync(givenUp)]).toEqual(['1.0.0', ['1.0.0'], true]);
  });
});

const hasShellcheck = findProgram('shellcheck') !== undefined;
test.skipIf(!hasShellcheck && process.env.CI !== 'true')('shellcheck finds nothing in the scripts', async () => {
  await execute(
    'shellcheck',
    ['kiosk-setup', 'session', 'signage', 'update-player', 'etc/grub.d/01_signage-player'].map((name) =>
      join(scripts, name),
    ),
  );
  // Where single quotes hold what electron-builder fills in.
  await execute('shellcheck', ['-e', 'SC2016', ...['postinst', 'prerm', 'postrm'].map((name) => join(scripts, name))]);
});

test('the session measures no time by the clock, which is set while it runs', () => {
  const text = readFileSync(join(scripts, 'session'), 'utf8').replaceAll(/^ *#.*/gm, '');
  expect(text).not.toMatch(/\b(EPOCH|EPOCHREAL)?(SECONDS|TIME)\b/);
  expect(text).toMatch(/\/proc\/uptime/);
});

test("the package's scripts name what the package holds", async () => {
  const { productName, linux } = parse(readFileSync(join(scripts, '..', '..', 'electron-builder.yml'), 'utf8')) as {
    productName: string;
    linux: { executableName: string };
  };
  const macros: Record<string, string> = { sanitizedProductName: productName, executable: linux.executableName };
  for (const name of ['postinst', 'postrm', 'prerm']) {
    const filled = readFileSync(join(scripts, name), 'utf8').replace(/\$\{([a-zA-Z]+)\}/g, (_, macro) => {
      expect(Object.keys(macros)).toContain(macro);
      return macros[macro] ?? '';
    });
    await execute('bash', ['-n', '-c', filled]);
  }
  for (const name of ['prerm', 'update-player']) {
    expect(readFileSync(join(scripts, name), 'utf8')).toContain(`/opt/${productName}`);
  }
  for (const name of ['kiosk-setup', 'signage-player.service']) {
    expect(readFileSync(join(scripts, name), 'utf8')).toContain(`/usr/bin/${linux.executableName}`);
  }
});
