/**
 * A release from electron-builder to the updater of an installed version: the package and the metadata are those that would
 * be published, the updater is electron-updater's own. Only fpm, which can't be had everywhere, is a stand-in.
 */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createDownloads } from '../../main/updates/downloads.ts';
import { isCi } from '../support/machine.ts';
import { findProgram } from '../support/program.ts';
import { plainScript } from '../support/script.ts';
import { temporaryFolder } from '../support/service.ts';
import { nodeUpdater, serveFeed } from '../updates/release.ts';
import { makeElectron } from './packaged.ts';

const root = join(import.meta.dirname, '..', '..');
const execute = promisify(execFile);
const { publicKey: key, privateKey } = generateKeyPairSync('ed25519');
const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
const suffix = arch === 'x64' ? '' : `-${arch}`;

const releaseKey = plainScript(join(root, '.scripts', 'release-key.ts'));

/** Packages a version as the release workflow does. @returns the names of what was written for publishing */
const release = async (output: string, version: string, more: readonly string[]): Promise<string[]> => {
  const settings = {
    'directories.output': output,
    'extraMetadata.version': version,
    'publish.provider': 'generic',
    'publish.url': 'https://updates.example/',
  };
  const words = ['--linux', 'deb', `--${arch}`, '--publish', 'never', ...more];
  const given = Object.entries(settings).map(([name, value]) => `-c.${name}=${value}`);
  const builder = join(root, 'node_modules', 'electron-builder', 'cli.js');
  const env = { ...process.env, CUSTOM_FPM_PATH: join(import.meta.dirname, 'fpm-stand-in') };
  await execute(process.execPath, [builder, ...words, ...given], { cwd: root, env, maxBuffer: 2 ** 24 });
  const UPDATE_SIGNING_KEY = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await execute(process.execPath, [releaseKey, 'sign', output], {
    cwd: root,
    env: { ...process.env, UPDATE_SIGNING_KEY },
  });
  return readdirSync(output).filter((name) => /\.deb$|^[a-z]+-linux.*\.yml(\.sig)?$/.test(name));
};

/** What a box with an older version downloads. */
const update = (url: string, channel: string) => {
  const dataDir = temporaryFolder();
  const updater = nodeUpdater('0.0.1', dataDir);
  const ports = { updater, log: pino({ level: 'silent' }), key };
  return createDownloads(ports, { readyDir: join(dataDir, 'ready') }).fetch(
    { feed: url, peers: [], channel },
    () => true,
  );
};

describe.skipIf(findProgram('dpkg-deb') === undefined && !isCi)('a release', { timeout: 120_000 }, () => {
  it('is found, verified and downloaded by an older version, each channel for itself, and refused once it is altered', async () => {
    const work = temporaryFolder();
    const stable = join(work, 'stable');
    const stableFiles = await release(stable, '2.0.0', [`-c.electronDist=${makeElectron(work)}`]);
    const deb = `signage-player-2.0.0-${arch === 'x64' ? 'amd64' : arch}.deb`;
    expect(stableFiles).toEqual([`latest-linux${suffix}.yml`, `latest-linux${suffix}.yml.sig`, deb]);
    const beta = join(work, 'beta');
    const unpacked = readdirSync(stable).find((name) => name.endsWith('unpacked')) ?? '';
    const betaFiles = await release(beta, '2.1.0-beta.1', ['--prepackaged', join(stable, unpacked)]);
    expect(betaFiles).toContain(`beta-linux${suffix}.yml.sig`);

    const feed = await serveFeed();
    for (const [from, names] of [
      [stable, stableFiles],
      [beta, betaFiles],
    ] as const) {
      for (const name of names) cpSync(join(from, name), join(feed.folder, name));
    }
    const { version, file } = (await update(feed.url, 'latest')) ?? { version: '', file: '' };
    expect([version, basename(file)]).toEqual(['2.0.0', deb]);
    expect(readFileSync(file).equals(readFileSync(join(stable, deb)))).toBe(true);
    expect(await update(feed.url, 'beta')).toMatchObject({ version: expect.stringMatching(/^2\.1\.0-beta/) });

    // What apt would install.
    const field = async (name: string) => (await execute('dpkg-deb', ['--field', file, name])).stdout.trim();
    expect([await field('Package'), await field('Version')]).toEqual(['signage-player', '2.0.0']);
    const { deb: wanted } = parse(readFileSync(join(root, 'electron-builder.yml'), 'utf8'));
    expect(await field('Depends')).toBe(wanted.depends.join(', '));
    expect(await field('Recommends')).toBe(wanted.recommends.join(', '));
    const { stdout: contents } = await execute('dpkg-deb', ['--contents', file], { maxBuffer: 2 ** 24 });
    for (const name of ['app.asar', 'app-update.yml', 'package-type', 'apparmor-profile', 'linux/kiosk-setup']) {
      expect(contents).toContain(`./opt/Signage Player/resources/${name}\n`);
    }
    const scripts = join(work, 'control');
    await execute('dpkg-deb', ['--control', file, scripts]);
    expect(readdirSync(scripts)).toEqual(['control', 'postinst', 'postrm', 'prerm']);
    // electron-builder has filled in its names.
    expect(readFileSync(join(scripts, 'postinst'), 'utf8')).not.toContain('${');

    appendFileSync(join(feed.folder, deb), ' ');
    await expect(update(feed.url, 'latest')).rejects.toThrow(/sha512|size/);
    appendFileSync(join(feed.folder, `latest-linux${suffix}.yml`), '# ');
    await expect(update(feed.url, 'latest')).rejects.toThrow(/sign/);
  });
});
