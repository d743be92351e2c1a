/** An update of a whole system: a bundle of RAUC with a slot, and the metadata by which boxes find it beside the player's. */
import { linkSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from './run.ts';

/** As in `etc/rauc/system.conf`. */
const compatible = 'signage-player-amd64';

/** Of a version: `latest`, or the name of its prerelease. */
const channelOf = (version: string): string => /-([a-z]+)/.exec(version)?.[1] ?? 'latest';

/**
 * Signs a bundle and writes it with its metadata.
 * @param keys PEM: the private key, and a certificate that the keyring of the boxes knows or that one in it has signed
 * @param path of the bundle
 */
export const buildBundle = (
  slot: string,
  version: string,
  keys: { key: string; certificate: string },
  work: string,
  path: string,
): void => {
  const [folder, secret] = [join(work, 'bundle'), join(work, 'bundle.keys')];
  mkdirSync(folder);
  mkdirSync(secret, { mode: 0o700 });
  linkSync(slot, join(folder, 'system.img'));
  const manifest = [
    ...['[update]', `compatible=${compatible}`, `version=${version}`],
    ...['[bundle]', 'format=verity'],
    ...['[image.system]', 'filename=system.img', ''],
  ];
  writeFileSync(join(folder, 'manifest.raucm'), manifest.join('\n'));
  for (const [name, pem] of Object.entries(keys)) writeFileSync(join(secret, name), pem, { mode: 0o600 });
  rmSync(path, { force: true });
  // The slot is compressed already.
  const options = [`--cert=${join(secret, 'certificate')}`, `--key=${join(secret, 'key')}`, '--mksquashfs-args=-noD'];
  run('rauc', ['bundle', ...options, folder, path]);

  const [hash = ''] = run('sha512sum', [path]).split(' ');
  const sha512 = Buffer.from(hash, 'hex').toString('base64');
  const file = { url: basename(path), sha512, size: statSync(path).size };
  const metadata = { version, files: [file], path: file.url, sha512, releaseDate: new Date().toISOString() };
  // JSON is YAML.
  writeFileSync(join(path, '..', `${channelOf(version)}-image.yml`), `${JSON.stringify(metadata, null, 2)}\n`);
};
