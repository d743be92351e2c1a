/** The scripts that root runs on a kiosk, below a folder that takes the place of /. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';
import { publicKey, writeRelease } from '../updates/release.ts';

const execute = promisify(execFile);
const scripts = join(import.meta.dirname, '..', '..', 'resources', 'linux');

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .toSorted();

describe('kiosk-setup', () => {
  const setup = (DESTDIR: string, ...args: string[]) =>
    execute('bash', [join(scripts, 'kiosk-setup'), ...args], { env: { PATH: process.env.PATH, DESTDIR } });

  test('installs what makes a kiosk, twice over too, and takes all of it away again', async () => {
    const root = temporaryFolder();
    const config = join(root, 'mine.json');
    writeFileSync(config, '{}');
    const destination = join(root, 'image');
    mkdirSync(destination);
    for (const program of ['/usr/bin/other', '/opt/My Player/player']) {
      await setup(destination, 'install', '--program', program, '--config', config);
    }
    expect(filesBelow(destination)).toEqual([
      'etc/signage-player/config.json',
      'etc/systemd/system/signage-player-rescue.service',
      'etc/systemd/system/signage-player-update.path',
      'etc/systemd/system/signage-player-update.service',
      'etc/systemd/system/signage-player.service',
      'etc/udev/rules.d/70-signage-player.rules',
      'usr/lib/signage-player/cursors/blank/cursors/left_ptr',
      'usr/lib/signage-player/session',
      'usr/lib/signage-player/sway.conf',
      'usr/lib/signage-player/update-player',
    ]);
    // For lines of the site's own.
    expect(existsSync(join(destination, 'etc/signage-player/sway.d'))).toBe(true);
    const unit = readFileSync(join(destination, 'etc/systemd/system/signage-player.service'), 'utf8');
    expect(unit).toContain('ExecStart=/usr/lib/signage-player/session "/opt/My Player/player"\n');
    expect(unit).not.toContain('@PROGRAM@');
    await setup(destination, 'remove');
    expect(filesBelow(destination)).toEqual([]);
    await setup(destination, 'remove');
  });

  test("replaces its own units, and keeps the site's own lines", async () => {
    const destination = temporaryFolder();
    const unit = join(destination, 'etc/systemd/system/signage-player.service');
    const lines = join(destination, 'etc/signage-player/sway.d/mode.conf');
    for (const path of [unit, lines]) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(unit, '[Service]\nExecStart=/usr/bin/false\n');
    writeFileSync(lines, 'output DP-1 mode 1920x1080\n');
    await setup(destination, 'install');
    expect(readFileSync(unit, 'utf8')).not.toContain('/usr/bin/false');
    expect(readFileSync(lines, 'utf8')).toBe('output DP-1 mode 1920x1080\n');
  });

  test.each([
    ['no action', [], /install or remove/],
    ['another action', ['begin'], /install or remove/],
    ['a relative program', ['install', '--program', 'player'], /absolute path/],
    ['a program with a quote', ['install', '--program', '/opt/"x'], /is not allowed in a unit file/],
    ['no such file', ['install', '--config', '/nowhere/config.json'], /there is no file/],
    ['an option without a value', ['install', '--config'], /needs a value/],
    ['no such option', ['install', '--colour', 'blue'], /no option --colour/],
  ])('refuses %s, and changes nothing', async (_, args, reason) => {
    const destination = temporaryFolder();
    await expect(setup(destination, ...args)).rejects.toThrow(reason);
    expect(filesBelow(destination)).toEqual([]);
  });
});

test.runIf(findProgram('systemd-analyze') !== undefined)('systemd understands the units', async () => {
  const destination = temporaryFolder();
  const env = { PATH: process.env.PATH, DESTDIR: destination };
  await execute('bash', [join(scripts, 'kiosk-setup'), 'install', '--program', '/bin/true'], { env });
  const folder = join(destination, 'etc/systemd/system');
  const { stderr } = await execute('systemd-analyze', [
    'verify',
    ...readdirSync(folder).map((name) => join(folder, name)),
  ]).catch((error: { stderr: string }) => error);
  const faults = stderr
    .split('\n')
    .filter((line) => line.includes('signage-player') && !/is not executable/.test(line));
  expect(faults).toEqual([]);
});

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

const tools = ['openssl', 'dpkg', 'dpkg-deb', 'awk'];
const isComplete = tools.every((name) => findProgram(name) !== undefined);

describe.skipIf(!isComplete && process.env.CI !== 'true')('update-player', () => {
  /** A real package of the player, which says its version. */
  const buildPackage = async (version: string, name = 'signage-player', depends = 'sway'): Promise<Buffer> => {
    const folder = temporaryFolder();
    const app = join(folder, 'tree', 'opt', 'Signage Player');
    mkdirSync(join(folder, 'tree', 'DEBIAN'), { recursive: true });
    mkdirSync(app, { recursive: true });
    const control = `Package: ${name}\nVersion: ${version}\nArchitecture: all\nDepends: ${depends}\nMaintainer: x <x@localhost>\nDescription: x\n`;
    writeFileSync(join(folder, 'tree', 'DEBIAN', 'control'), control);
    writeFileSync(join(app, 'version'), version);
    await execute('dpkg-deb', ['--build', '--root-owner-group', join(folder, 'tree'), join(folder, 'player.deb')]);
    return readFileSync(join(folder, 'player.deb'));
  };

  /** A machine with version 1.0.0, and an order and a release in the player's folder. */
  const machine = async ({ order = 'install', dpkgFails = false } = {}) => {
    const root = temporaryFolder();
    const app = join(root, 'opt', 'Signage Player');
    const updates = join(root, 'var/lib/signage-player/updates');
    const bin = join(root, 'bin');
    const calls = join(root, 'calls');
    mkdirSync(join(app, 'resources'), { recursive: true });
    mkdirSync(updates, { recursive: true });
    mkdirSync(bin);
    writeFileSync(join(app, 'version'), '1.0.0');
    writeFileSync(join(app, 'resources', 'update-key.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
    writeFileSync(join(updates, 'order'), `${order}\n`);
    const dpkg = findProgram('dpkg');
    const programs = {
      runuser: 'shift 3; exec "$@"',
      systemctl: `echo "systemctl $*" >> '${calls}'`,
      'dpkg-query': `case $2 in *Depends*) printf 'libnss3, sway' ;; *) printf 1.0.0 ;; esac`,
      // The package is unpacked for real, as dpkg does: new files take the places of old ones.
      dpkg: `case $1 in
        --install) dpkg-deb --fsys-tarfile "$2" | tar -x -C '${root}' -f - ${dpkgFails ? '; exit 1' : ''} ;;
        *) exec '${dpkg}' "$@" ;;
      esac`,
    };
    for (const [name, body] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
      chmodSync(join(bin, name), 0o755);
    }
    const env = { PATH: `${bin}${delimiter}${process.env.PATH}`, ROOT: root, RESCUE_SECONDS: '0' };
    return {
      app,
      updates,
      ready: join(updates, 'ready'),
      run: (action: string) => execute('bash', [join(scripts, 'update-player'), action], { env }),
      version: () => readFileSync(join(app, 'version'), 'utf8'),
      order: (word: string) => writeFileSync(join(updates, 'order'), `${word}\n`),
      calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []),
    };
  };

  test('installs a signed release, keeps what ran, and goes back to it', async () => {
    const { ready, run, version, updates, order, calls } = await machine();
    writeRelease(ready, { version: '2.0.0', bytes: await buildPackage('2.0.0') });
    await run('order');
    expect([version(), existsSync(join(updates, 'order'))]).toEqual(['2.0.0', false]);
    expect(calls()).toEqual(['systemctl restart signage-player.service']);
    order('roll-back');
    await run('order');
    expect(version()).toBe('1.0.0');
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

  test('puts back what ran where the package fails half way', async () => {
    const { ready, run, version } = await machine({ dpkgFails: true });
    writeRelease(ready, { version: '2.0.0', bytes: await buildPackage('2.0.0') });
    await run('order');
    expect(version()).toBe('1.0.0');
  });

  test('rescues: an update on trial goes, anything else is tried again', async () => {
    const { app, updates, run, version, calls } = await machine();
    await run('rescue');
    expect([version(), calls().at(-1)]).toEqual(['1.0.0', 'systemctl start signage-player.service']);
    cpSync(app, `${app}.kept`, { recursive: true });
    writeFileSync(join(app, 'version'), '2.0.0');
    writeFileSync(join(updates, 'state.json'), '{"trial":null,"failed":[]}\n');
    await run('rescue');
    expect(version()).toBe('2.0.0');
    const trial = { version: '2.0.0', from: '1.0.0', starts: [] };
    writeFileSync(join(updates, 'state.json'), `${JSON.stringify({ trial, failed: [] })}\n`);
    await run('rescue');
    expect(version()).toBe('1.0.0');
  });
});

const hasShellcheck = findProgram('shellcheck') !== undefined;
test.skipIf(!hasShellcheck && process.env.CI !== 'true')('shellcheck finds nothing in the scripts', async () => {
  await execute(
    'shellcheck',
    ['kiosk-setup', 'session', 'signage', 'update-player'].map((name) => join(scripts, name)),
  );
  // Where single quotes hold what electron-builder fills in.
  await execute('shellcheck', ['-e', 'SC2016', ...['postinst', 'prerm', 'postrm'].map((name) => join(scripts, name))]);
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
  expect(readFileSync(join(scripts, 'kiosk-setup'), 'utf8')).toContain(`program=/usr/bin/${linux.executableName}\n`);
});
