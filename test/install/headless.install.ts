/**
 * The packages of the service without a display, in fresh systems by debootstrap: from a file, from a signed repository, over
 * the kiosk's and back, and the image for containers, unpacked, with another account and a read-only system.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { buildRepository } from '../../.scripts/packages/apt.ts';
import { buildContainer } from '../../.scripts/packages/container.ts';
import { buildHeadless, program } from '../../.scripts/packages/headless.ts';
import { packageApp } from '../package/packaged.ts';
import { freePort } from '../support/ports.ts';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';
import { buildDeb, run } from './deb.ts';

const release = inject('release');
const data = '/var/lib/signage-player';
const config = '/etc/signage-player/config.json';
/** From the end of the installation, or the start of a container, to the demo, ms. */
const SOON_MS = 10_000;

describe(`on Debian ${release}`, () => {
  const work = temporaryFolder(afterAll);
  const system = join(work, 'system');
  let service: ChildProcess | undefined;
  let own: string[];
  let kiosk: string;

  const inside = (...command: string[]): string =>
    run('chroot', system, '/usr/bin/env', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C.UTF-8', ...command);
  const install = (path: string): string => {
    cpSync(path, join(system, 'tmp', 'package.deb'));
    return inside('apt-get', 'install', '-y', '-qq', '--no-install-recommends', '/tmp/package.deb');
  };
  /** As an administrator may, whose package then takes the place of the other in another order than by apt. */
  const unpack = (path: string): string => {
    cpSync(path, join(system, 'tmp', 'package.deb'));
    return inside('dpkg', '--install', '/tmp/package.deb');
  };
  const completions = ['bash-completion/completions/signage', 'zsh/vendor-completions/_signage'];
  /** The command line is there, with its completions. */
  const hasCommand = (): void => {
    expect(inside('signage', '--version')).toContain('0.1');
    for (const name of completions) expect(statSync(join(system, 'usr', 'share', name)).size).toBeGreaterThan(0);
  };
  const ownerOf = (path: string): string => inside('stat', '--format=%U:%G %a', path).trim();
  const stop = async (): Promise<void> => {
    if (service === undefined) return;
    service.kill('SIGTERM');
    if (service.exitCode === null) await once(service, 'exit');
    service = undefined;
  };

  /** Starts the service as its unit does. @returns its address */
  const start = async (root = system, account = 'signage-player'): Promise<string> => {
    const port = await freePort();
    const env = {
      SIGNAGE_DATA_DIR: root === system ? data : '/data',
      SIGNAGE_PORT: String(port),
      SIGNAGE_DISCOVERY: 'off',
    };
    const command = ['/usr/sbin/chroot', `--userspec=${account}`, root, `/usr/lib/${program}/start`];
    service = spawn(command[0] ?? '', command.slice(1), { env: { PATH: '/usr/bin:/bin', ...env }, stdio: 'ignore' });
    return `http://127.0.0.1:${port}`;
  };
  const demo = (url: string) =>
    expect
      .poll(
        () =>
          fetch(`${url}/screen/demo`).then(
            (answer) => answer.text(),
            () => '',
          ),
        { timeout: SOON_MS, interval: 50 },
      )
      .toContain('<html');

  beforeAll(async () => {
    own = ['0.1.0', '0.1.1'].map((version) => buildHeadless(work, version, 'none'));
    kiosk = buildDeb(await packageApp(), '0.1.0');
    run('cp', '--archive', inject('base'), system);
  });
  afterEach(stop);

  it('the deb is installed, says where its secret is, and serves the demo', async () => {
    const said = install(own[0] ?? '');
    expect(said).toContain(config);
    expect(ownerOf(config)).toBe('root:signage-player 640');
    expect(JSON.parse(readFileSync(join(system, config), 'utf8')).sharedSecret).toHaveLength(32);
    const url = await start();
    await demo(url);
    // The secret is in force: what the console asks for is refused without a signature.
    expect((await fetch(`${url}/console/api/content`)).status).toBe(401);
    expect(inside('signage', '--version')).toContain('0.1');
  });

  it('it is upgraded with its data and secret', async () => {
    const secret = readFileSync(join(system, config), 'utf8');
    writeFileSync(join(system, data, 'kept'), 'mine');
    install(own[1] ?? '');
    expect(readFileSync(join(system, config), 'utf8')).toBe(secret);
    expect(readFileSync(join(system, data, 'kept'), 'utf8')).toBe('mine');
    // What the service has written is still its own.
    for (const path of [data, join(data, 'state.json')])
      expect(ownerOf(path)).toMatch(/^signage-player:signage-player/);
    expect(ownerOf(config)).toBe('root:signage-player 640');
    hasCommand();
    await demo(await start());
  });

  it('the kiosk takes its place and its data, and hands them back', async () => {
    install(kiosk);
    expect(ownerOf(join(data, 'kept'))).toMatch(/^signage:signage/);
    expect(inside('dpkg', '--list', program)).not.toContain('\nii ');
    // What is left of the other is purged, and takes nothing with it.
    inside('dpkg', '--purge', program);
    expect(readFileSync(join(system, config), 'utf8')).toContain('sharedSecret');
    install(own[1] ?? '');
    expect(ownerOf(join(data, 'kept'))).toMatch(/^signage-player:signage-player/);
    hasCommand();
    await demo(await start());
  });

  it('by dpkg alone each takes the place of the other, with its command line', async () => {
    unpack(kiosk);
    expect(ownerOf(join(data, 'kept'))).toMatch(/^signage:signage/);
    expect(inside('readlink', '/usr/bin/signage')).toContain('/opt/');
    unpack(own[1] ?? '');
    hasCommand();
    expect(ownerOf(join(data, 'kept'))).toMatch(/^signage-player:signage-player/);
    await demo(await start());
  });

  it('it is installed from a signed repository, and a changed package is refused', async () => {
    inside('dpkg', '--remove', program);
    const keys = temporaryFolder(afterAll);
    const gpg = (...args: string[]) =>
      run('gpg', '--homedir', keys, '--batch', '--quiet', '--pinentry-mode', 'loopback', '--passphrase', '', ...args);
    gpg('--quick-gen-key', 'Test', 'ed25519', 'sign', 'never');
    const repository = join(system, 'srv');
    buildRepository(repository, own, gpg('--armor', '--export-secret-keys'));
    const source = join(system, 'etc', 'apt', 'sources.list.d', 'signage.list');
    writeFileSync(source, 'deb [signed-by=/srv/signage-player.asc] file:/srv stable main\n');
    inside('apt-get', 'update', '-qq');
    inside('apt-get', 'install', '-y', '-qq', '--no-install-recommends', program);
    expect(inside('dpkg', '--status', program)).toContain('\nVersion: 0.1.1\n');
    // Somebody who serves the tree puts in a package of their own.
    const list = join(repository, 'dists', 'stable', 'Release');
    for (const name of [list, join(repository, 'dists', 'stable', 'InRelease')]) {
      writeFileSync(name, readFileSync(name, 'utf8').replace('Label: signage-player', 'Label: stranger'));
    }
    expect(() => inside('apt-get', 'update', '-qq', '-o', 'APT::Update::Error-Mode=any')).toThrow();
  });

  /** A link, whose unit may be gone. */
  const isEnabled = (): boolean =>
    readdirSync(join(system, 'etc/systemd/system/multi-user.target.wants')).includes(`${program}.service`);

  it('it is removed and installed again, and runs from the next start; by hand it is disabled for good', () => {
    inside('dpkg', '--remove', program);
    install(own[1] ?? '');
    expect(isEnabled()).toBe(true);
    inside('systemctl', 'disable', program);
    install(own[1] ?? '');
    expect(isEnabled()).toBe(false);
    inside('systemctl', 'enable', program);
  });

  it('it is removed, and purged without its secret; its data stay', () => {
    // The kiosk took the file of its configuration with it, and left what it had imported.
    mkdirSync(join(system, 'etc', 'signage-player'), { recursive: true });
    writeFileSync(join(system, config), '{}');
    inside('apt-get', 'remove', '-y', '-qq', program);
    expect(() => statSync(join(system, 'usr', 'lib', program, 'start'))).toThrow();
    expect(statSync(join(system, config)).isFile()).toBe(true);
    inside('dpkg', '--purge', program);
    expect(isEnabled()).toBe(false);
    expect(() => statSync(join(system, config))).toThrow();
    expect(readFileSync(join(system, data, 'kept'), 'utf8')).toBe('mine');
  });

  it.skipIf(release !== 'trixie' || findProgram('buildah') === undefined)(
    'the image for containers serves the demo with another account, in a read-only system',
    async () => {
      const image = buildContainer(work);
      const unpacked = join(work, 'image');
      mkdirSync(unpacked);
      run('tar', '--extract', '--file', image, '--directory', unpacked);
      const [manifest] = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'));
      const { config: settings } = JSON.parse(readFileSync(join(unpacked, manifest.Config), 'utf8'));
      expect(settings).toMatchObject({
        User: '10001:10001',
        Volumes: { '/data': {} },
        ExposedPorts: { '8080/tcp': {} },
      });
      const [kind, ...check] = settings.Healthcheck.Test as string[];
      expect([kind, check.at(-1)]).toEqual(['CMD', expect.stringContaining('/healthz')]);
      const root = join(work, 'container');
      mkdirSync(root);
      for (const layer of manifest.Layers)
        run('tar', '--extract', '--file', join(unpacked, layer), '--directory', root);
      const volume = temporaryFolder(afterAll);
      run('chown', '20000:20000', volume);
      const mounts: [string, ...string[]][] = [
        ['--bind', root, root],
        ['--options', 'remount,ro,bind', root],
        ['--bind', volume, join(root, 'data')],
      ];
      for (const words of mounts) run('mount', ...words);
      try {
        const url = await start(root, '20000:20000');
        await demo(url);
        execFileSync('/usr/sbin/chroot', [root, ...check], { env: { SIGNAGE_DATA_DIR: '/data' } });
        await stop();
        expect(() =>
          execFileSync('/usr/sbin/chroot', [root, ...check], { env: { SIGNAGE_DATA_DIR: '/data' } }),
        ).toThrow();
        // A program that the service started may still be ending.
        run('umount', '--lazy', join(root, 'data'));
        // Nobody gave it a volume, and its own system takes no files.
        const env = { PATH: '/usr/bin:/bin', SIGNAGE_DATA_DIR: '/data' };
        const entry = ['--userspec=10001:10001', root, ...(settings.Entrypoint as string[])];
        const { status, stderr } = spawnSync('/usr/sbin/chroot', entry, { env, encoding: 'utf8' });
        expect([status, stderr.trim()]).toEqual([
          78,
          'SIGNAGE_DATA_DIR: "/data" is not valid; expected a folder that the player may write to (EROFS)',
        ]);
      } finally {
        await stop();
        run('umount', '--recursive', '--lazy', root);
      }
      await demo(await start(root, settings.User));
    },
  );
});
