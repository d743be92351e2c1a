/**
 * The deb in fresh systems by debootstrap: installed with its dependencies from Debian's archive, upgraded, removed and
 * purged. The runtime is a stand-in; dpkg-deb builds the package from the fields and scripts of electron-builder.yml.
 */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { packageApp } from '../package/packaged.ts';
import { temporaryFolder } from '../support/service.ts';
import { buildDeb, product, program, run } from './deb.ts';

const root = join(import.meta.dirname, '..', '..');

const libraries = readFileSync(join(root, 'test', 'package', 'electron-libraries.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' ')[0] ?? '');

describe(`on Debian ${inject('release')}`, () => {
  const system = join(temporaryFolder(afterAll), 'system');
  let packages: string[];

  const inside = (...command: string[]): string =>
    run('chroot', system, '/usr/bin/env', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C.UTF-8', ...command);
  const install = (path: string): void => {
    cpSync(path, join(system, 'tmp', 'player.deb'));
    inside('apt-get', 'install', '-y', '-qq', '--no-install-recommends', '/tmp/player.deb');
  };
  const status = (): string => {
    try {
      const [, state = '', version = ''] =
        /^Status: (.*)$[^]*^Version: (.*)$/m.exec(inside('dpkg', '--status', program)) ?? [];
      return `${version} ${state.split(' ').at(-1)}`;
    } catch {
      return 'unknown';
    }
  };

  beforeAll(async () => {
    const app = await packageApp();
    packages = ['0.1.0', '0.1.1'].map((version) => buildDeb(app, version));
    run('cp', '--archive', inject('base'), system);
  });

  it('installs with its dependencies, which bring every library that Electron needs', () => {
    install(packages[0] ?? '');
    expect(status()).toBe('0.1.0 installed');
    expect(inside('readlink', `/usr/bin/${program}`).trim()).toBe(`/opt/${product}/${program}`);
    const known = inside('/sbin/ldconfig', '-p');
    expect(libraries.filter((name) => !known.includes(`${name} `))).toEqual([]);
    for (const name of ['sway', 'seatd', 'swaybg', 'openssl']) expect(inside('which', name)).toContain(name);
    // The sandbox of pages has its helper, or user namespaces.
    expect(inside('stat', '--format=%a', `/opt/${product}/chrome-sandbox`).trim()).toMatch(/^(4755|755)$/);
  });

  it('is upgraded in place, and the session is accepted by its compositor', () => {
    install(packages[1] ?? '');
    expect(status()).toBe('0.1.1 installed');
    // Without a running systemd, as in an image that is being built.
    expect(inside('systemctl', 'is-enabled', 'signage-player.service').trim()).toBe('enabled');
    inside('bash', '-n', '/usr/lib/signage-player/session');
  });

  it('is removed and purged without a trace of the program', () => {
    inside('apt-get', 'remove', '-y', '-qq', program);
    expect(existsSync(join(system, 'usr', 'bin', program))).toBe(false);
    inside('apt-get', 'purge', '-y', '-qq', program);
    expect(status()).toMatch(/unknown|not-installed/);
    for (const name of [product, `${product}.kept`]) expect(existsSync(join(system, 'opt', name))).toBe(false);
  });
});
