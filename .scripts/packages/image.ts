/**
 * `npm run image`: a file that makes a PC a box. It is written to a stick or a disk, and starts on UEFI and BIOS.
 *
 *   --cache DIR     where Debian's packages are kept, and taken from first
 *   --archive URL   of a mirror of Debian
 *   --deb FILE      the player's package; absent: it is made
 *   --out DIR       absent: release
 *   --keyring FILE  the certificates that may sign updates of the system, for tests; absent: resources/image/keyring.pem
 *   --standin       takes the stand-in of the tests for Electron's runtime, even where that can be had
 *   --version V     what the stand-in says it is, for tests
 *   --raw           leaves it uncompressed, for a machine that starts it at once
 *   --lock          asks for the newest versions of the packages and writes resources/image/lock, nothing else
 *
 * With a private key and a certificate (PEM) in IMAGE_SIGNING_KEY and IMAGE_SIGNING_CERTIFICATE it also makes the bundle by which
 * boxes that have an image update themselves.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../bundles.ts';
import { billOf } from '../image/bill.ts';
import { buildBundle } from '../image/bundle.ts';
import { buildDisk } from '../image/disk.ts';
import { archive, fetchPackages, formatLock, hashOf, lockFile, makeLock, parseLock } from '../image/lock.ts';
import { findPlayer } from '../image/player.ts';
import { buildRoot } from '../image/root.ts';
import { run } from '../image/run.ts';

/** The programs of the build, by the packages that have them. */
const tools: Readonly<Record<string, string>> = {
  'apt-ftparchive': 'apt-utils',
  'mkfs.vfat': 'dosfstools',
  sfdisk: 'fdisk',
  mcopy: 'mtools',
  mmdebstrap: 'mmdebstrap',
  sqfstar: 'squashfs-tools',
  xz: 'xz-utils',
};

/** What signs updates of the system; null: nothing. */
const findKeys = (): { key: string; certificate: string } | null => {
  const { IMAGE_SIGNING_KEY: key, IMAGE_SIGNING_CERTIFICATE: certificate } = process.env;
  return key && certificate ? { key, certificate } : null;
};

/** @throws Error that says what to install */
const requireTools = (isSigned: boolean): void => {
  process.env['PATH'] += ':/usr/sbin:/sbin';
  const missing = [...Object.keys(tools), ...(isSigned ? ['rauc'] : [])].filter(
    (name) => run('sh', ['-c', 'command -v "$1" || true', 'sh', name]).trim() === '',
  );
  if (missing.length === 0) return;
  const packages = missing.map((name) => tools[name] ?? name).join(' ');
  throw new Error(`${missing.join(', ')} is missing; run: sudo apt-get install ${packages}`);
};

const main = async (args: string[]): Promise<void> => {
  const { values } = parseArgs({
    args,
    options: {
      cache: {
        type: 'string',
        default: join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'signage-image'),
      },
      archive: { type: 'string', default: archive },
      deb: { type: 'string' },
      out: { type: 'string', default: join(root, 'release') },
      keyring: { type: 'string' },
      standin: { type: 'boolean', default: false },
      version: { type: 'string' },
      raw: { type: 'boolean', default: false },
      lock: { type: 'boolean', default: false },
    },
  });
  const from = values.archive.replace(/\/+$/, '');
  if (values.lock) {
    writeFileSync(lockFile, formatLock(makeLock(from, Math.floor(Date.now() / 1000))));
    console.log(lockFile);
    return;
  }
  const keys = findKeys();
  requireTools(keys !== null);
  const lock = parseLock(readFileSync(lockFile, 'utf8'));
  const cache = resolve(values.cache);
  const work = mkdtempSync(join(tmpdir(), 'signage-image-'));
  const ends: (() => void | Promise<void>)[] = [() => rmSync(work, { recursive: true, force: true })];
  try {
    const player = await findPlayer(values, work, (end) => ends.push(end));
    const hasStandIn = player.standIn !== undefined;
    const isStandIn = hasStandIn || values.keyring !== undefined;
    const files = await fetchPackages(
      lock.packages.filter(({ use }) => hasStandIn || use !== 'standin'),
      cache,
      from,
    );
    const boot = join(work, 'boot');
    for (const [{ use }, file] of files) if (use === 'boot') run('dpkg-deb', ['--extract', file, boot]);
    const debs = [...files].flatMap(([{ use }, file]) => (use === 'boot' ? [] : [file]));
    const at = lock.madeAt;
    const keyring = resolve(values.keyring ?? join(root, 'resources', 'image', 'keyring.pem'));
    const parts = { debs, player: player.deb, boot, keyring, version: player.version, at };
    const { slot, core } = buildRoot({ ...parts, ...(player.standIn && { standIn: player.standIn }) }, cache, work);
    const seed = hashOf(slot);

    const name = `signage-player-${player.version}-amd64${isStandIn ? '-standin' : ''}`;
    const out = resolve(values.out);
    mkdirSync(out, { recursive: true });
    const image = join(out, `${name}.img`);
    buildDisk({ slot, core, boot, seed, at }, work, `${image}.part`);
    renameSync(`${image}.part`, image);
    if (!values.raw) run('xz', ['--force', '--threads=2', '-6', image]);
    const file = values.raw ? image : `${image}.xz`;
    writeFileSync(`${file}.sha256`, `${hashOf(file)}  ${basename(file)}\n`);
    writeFileSync(
      join(out, `${name}.cdx.json`),
      billOf({ ...lock, packages: [...files.keys()] }, player.runtime, player, seed),
    );
    console.log(file);
    console.log('An image for arm64 is left out: this builds amd64 alone.');
    if (keys === null)
      console.log('There is no update of the system: IMAGE_SIGNING_KEY and IMAGE_SIGNING_CERTIFICATE are not set.');
    else {
      const bundle = join(out, `${name}.raucb`);
      buildBundle(slot, player.version, keys, work, bundle);
      // Boxes would refuse what is signed by others, every night.
      run('rauc', ['info', `--keyring=${keyring}`, bundle]);
      console.log(bundle);
    }
  } finally {
    for (const end of ends) await end();
  }
};

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`The image was not built: ${(error as Error).message}`);
  process.exit(1);
});
