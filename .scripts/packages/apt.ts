/**
 * `npm run package:apt [-- DEB...]`: an apt repository with these packages, or those in release/, in release/apt, made by
 * apt-ftparchive and signed by gpg with the private key in `APT_SIGNING_KEY` (ASCII armour, without a passphrase). Any web
 * server may serve the tree.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../bundles.ts';

const origin = 'signage-player';
const suite = 'stable';
const component = 'main';

const run = (cwd: string, program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] });

/** The packages in a folder; none where there is no folder. */
const debsIn = (folder: string): string[] =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.deb'))
    .map((name) => join(folder, name));

/**
 * Replaces the repository in a folder. What apt needs to trust it is written there as `signage-player.asc`.
 * @param given paths of packages
 * @param key the private key, in ASCII armour
 * @throws Error if a package or the key cannot be used
 */
export const buildRepository = (out: string, given: readonly string[], key: string): void => {
  const debs = given.map((deb) => resolve(deb));
  rmSync(out, { recursive: true, force: true });
  const pool = join('pool', component);
  mkdirSync(join(out, pool), { recursive: true });
  const architectures = new Set<string>();
  for (const deb of debs) {
    const [name, version, architecture] = ['Package', 'Version', 'Architecture'].map((field) =>
      run(out, 'dpkg-deb', '--field', deb, field).trim(),
    );
    // apt-ftparchive finds the packages of an architecture by their names.
    cpSync(deb, join(out, pool, `${name}_${version}_${architecture}.deb`));
    architectures.add(architecture ?? '');
  }
  const dist = join(out, 'dists', suite);
  for (const architecture of architectures) {
    const folder = join(dist, component, `binary-${architecture}`);
    mkdirSync(folder, { recursive: true });
    const list = run(out, 'apt-ftparchive', '--arch', architecture, 'packages', pool);
    writeFileSync(join(folder, 'Packages'), list);
    writeFileSync(join(folder, 'Packages.gz'), gzipSync(list, { level: 9 }));
  }
  const fields = {
    ...{ Origin: origin, Label: origin, Suite: suite, Codename: suite, Components: component },
    Architectures: [...architectures].join(' '),
  };
  const options = Object.entries(fields).flatMap(([field, value]) => [
    '-o',
    `APT::FTPArchive::Release::${field}=${value}`,
  ]);
  writeFileSync(join(dist, 'Release'), run(dist, 'apt-ftparchive', ...options, 'release', '.'));
  const keyring = mkdtempSync(join(tmpdir(), 'signage-keys-'));
  try {
    const gpg = (...args: string[]): string =>
      run(dist, 'gpg', '--homedir', keyring, '--batch', '--yes', '--quiet', ...args);
    execFileSync('gpg', ['--homedir', keyring, '--batch', '--quiet', '--import'], { input: key });
    gpg('--clearsign', '--output', 'InRelease', 'Release');
    gpg('--armor', '--detach-sign', '--output', 'Release.gpg', 'Release');
    gpg('--armor', '--export', '--output', join(out, `${origin}.asc`));
    execFileSync('gpgconf', ['--homedir', keyring, '--kill', 'all'], { stdio: 'ignore' });
  } finally {
    rmSync(keyring, { recursive: true, force: true });
  }
};

if (process.argv[1] === import.meta.filename) {
  const release = join(root, 'release');
  const named = process.argv.slice(2);
  const debs = named.length > 0 ? named : debsIn(release);
  const { APT_SIGNING_KEY: key } = process.env;
  const fault = !key
    ? 'APT_SIGNING_KEY is not set: give it the private key that signs the repository, as in APT_SIGNING_KEY="$(gpg --armor --export-secret-keys KEY)" npm run package:apt'
    : debs.length === 0
      ? `There is no package in ${release}: make one first, with npm run package or npm run package:headless`
      : null;
  if (fault !== null || !key) {
    console.error(fault);
    process.exit(2);
  }
  const out = join(release, 'apt');
  buildRepository(out, debs, key);
  console.log(out);
}
