/** The packages of the image: which they are, at which versions, and where their files come from. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../bundles.ts';

/** Where a package goes: into the image, into one with the stand-in of the runtime, or its files start the machine. */
type Use = 'image' | 'standin' | 'boot';

interface Locked {
  use: Use;
  name: string;
  version: string;
  sha256: string;
  /** Below the archive: `debian/pool/main/...`. */
  path: string;
}

export interface Lock {
  /** When it was made, s since the epoch: the time of all files in the image. */
  madeAt: number;
  packages: Locked[];
}

export const lockFile = join(root, 'resources', 'image', 'lock');
export const archive = 'http://deb.debian.org';
export const release = 'trixie';
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
const components = 'main non-free-firmware';

/** Chromium, with and without windows, and a font for its own texts. */
const standIn = ['chromium', 'chromium-headless-shell', 'fonts-dejavu-core'];
/** Debian's signed loaders for UEFI, and GRUB for BIOS with the program that links it and its library. */
const boot = ['shim-signed', 'grub-efi-amd64-signed', 'grub-pc-bin', 'grub-common', 'libdevmapper1.02.1'];

/** The names in a list with `#` comments. */
export const namesIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join(' ')
    .split(/\s+/)
    .filter((name) => name !== '');

/** @throws Error that names the first invalid line */
export const parseLock = (text: string): Lock => {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const madeAt = Date.parse(/^# (\S+)/.exec(first)?.[1] ?? '') / 1000;
  if (!Number.isInteger(madeAt)) throw new Error('the first line of the lock is not "# " and a time');
  const packages = lines.map((line, index) => {
    const [use, name = '', version = '', sha256 = '', path = '', ...rest] = line.split(' ');
    const isUse = use === 'image' || use === 'standin' || use === 'boot';
    const isPath = /^debian(-security)?\/pool\/[^\s]+\.deb$/.test(path) && !path.includes('..');
    if (!isUse || version === '' || !/^[0-9a-f]{64}$/.test(sha256) || !isPath || rest.length > 0) {
      throw new Error(`line ${index + 2} of the lock is not "use name version sha256 path": ${line}`);
    }
    return { use, name, version, sha256, path } as const;
  });
  return { madeAt, packages };
};

export const formatLock = ({ madeAt, packages }: Lock): string =>
  [
    `# ${new Date(madeAt * 1000).toISOString().replace('.000Z', 'Z')}`,
    ...packages.map(({ use, name, version, sha256, path }) => [use, name, version, sha256, path].join(' ')),
    '',
  ].join('\n');

/**
 * Reads a line of `apt-get --print-uris`: `'URL' FILE SIZE SHA256:HASH`.
 * @returns undefined for other lines
 */
export const parseUri = (line: string, use: Use): Locked | undefined => {
  const [, url = '', file = '', sha256 = ''] = /^'([^']+)' ([^ ]+)\.deb \d+ SHA256:([0-9a-f]{64})\s*$/.exec(line) ?? [];
  const [, path = ''] = /^https?:\/\/[^/]+\/(.*)$/.exec(url) ?? [];
  if (path === '') return undefined;
  const [name = '', version = ''] = file.split('_');
  return { use, name, version: decodeURIComponent(version), sha256, path: decodeURIComponent(path) };
};

/** The packages that the player's own needs and recommends; of alternatives the first, which Debian 13 has. */
const ofThePlayer = (): string[] => {
  const { deb } = parse(readFileSync(join(root, 'electron-builder.yml'), 'utf8')) as {
    deb: { depends: string[]; recommends: string[] };
  };
  return [...deb.depends, ...deb.recommends].map((relation) => relation.split(/[ |(]/)[0] ?? '');
};

/** Asks the archive for the newest versions; what it does not have is printed and left out. */
export const makeLock = (from: string, now: number): Lock => {
  const work = mkdtempSync(join(tmpdir(), 'signage-lock-'));
  try {
    for (const folder of ['lists/partial', 'archives/partial']) mkdirSync(join(work, folder), { recursive: true });
    for (const name of ['status', 'preferences']) writeFileSync(join(work, name), '');
    const suites = [`debian ${release}`, `debian ${release}-updates`, `debian-security ${release}-security`];
    const sources = suites.map((suite) => `deb [signed-by=${keyring}] ${from}/${suite} ${components}\n`);
    writeFileSync(join(work, 'sources.list'), sources.join(''));
    const options = {
      ...{ 'Dir::Etc::SourceList': join(work, 'sources.list'), 'Dir::Etc::SourceParts': '/dev/null' },
      ...{ 'Dir::Etc::Preferences': join(work, 'preferences'), 'Dir::Etc::PreferencesParts': '/dev/null' },
      ...{ 'Dir::State::Lists': join(work, 'lists'), 'Dir::State::Status': join(work, 'status'), 'Dir::Cache': work },
      ...{ 'APT::Architecture': 'amd64', 'APT::Architectures': 'amd64', 'APT::Install-Recommends': 'false' },
      ...{ 'Acquire::ForceHash': 'SHA256', 'Acquire::Languages': 'none', 'APT::Sandbox::User': 'root' },
    };
    const words = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    const apt = (program: string, ...args: string[]): string =>
      execFileSync(program, [...words, '-q', ...args], {
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    apt('apt-get', 'update');
    const known = new Set(apt('apt-cache', 'pkgnames').split('\n'));
    const list = readFileSync(join(root, 'resources', 'image', 'packages'), 'utf8');
    const wanted = [...namesIn(list), ...ofThePlayer()].filter((name) => {
      // What is only provided by others is no package, and apt finds who does.
      const isThere = known.has(name) || /Reverse Provides: *\n\S/.test(apt('apt-cache', 'showpkg', name));
      if (!isThere) console.log(`${name} is not in Debian 13, so it is left out.`);
      return isThere;
    });
    const resolve = (use: Use, ...args: string[]): Locked[] =>
      apt('apt-get', '--yes', '--print-uris', ...args)
        .split('\n')
        .flatMap((line) => parseUri(line, use) ?? [])
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const image = resolve('image', 'install', '?essential', ...wanted);
    const paths = new Set(image.map(({ path }) => path));
    const more = resolve('standin', 'install', '?essential', ...wanted, ...standIn).filter(
      ({ path }) => !paths.has(path),
    );
    return { madeAt: now, packages: [...image, ...more, ...resolve('boot', 'download', ...boot)] };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

/** The SHA-256 of a file, hex. */
export const hashOf = (path: string): string => {
  const hash = createHash('sha256');
  const file = openSync(path, 'r');
  const buffer = Buffer.alloc(2 ** 20);
  for (let read = -1; read !== 0; ) {
    read = readSync(file, buffer);
    hash.update(buffer.subarray(0, read));
  }
  closeSync(file);
  return hash.digest('hex');
};

/** How many files are asked for at once. */
const LANES = 8;

/**
 * Downloads what the cache does not have.
 * @returns the path of each package's file
 * @throws Error that names the packages which the archive no longer has, or of which it has other bytes
 */
export const fetchPackages = async (
  packages: readonly Locked[],
  cache: string,
  from: string,
): Promise<Map<Locked, string>> => {
  mkdirSync(cache, { recursive: true });
  const files = new Map(packages.map((each) => [each, join(cache, basename(each.path))]));
  const missing = [...files].filter(([{ sha256 }, file]) => !existsSync(file) || hashOf(file) !== sha256);
  if (missing.length > 0) console.log(`${missing.length} of ${packages.length} packages are downloaded to ${cache}.`);
  const gone: string[] = [];
  const lane = async (): Promise<void> => {
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      const [{ name, version, sha256, path }, file] = next;
      const url = `${from}/${path.replaceAll('+', '%2b').replaceAll('~', '%7e')}`;
      const answer = await fetch(url).catch((error: unknown) => {
        throw new Error(`${url} cannot be reached (${(error as Error).message}); give a mirror with --archive`);
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (!answer.ok || createHash('sha256').update(bytes).digest('hex') !== sha256) {
        gone.push(`${name} ${version}`);
        continue;
      }
      // One that was interrupted is not taken for a whole one.
      writeFileSync(`${file}.part`, bytes);
      renameSync(`${file}.part`, file);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  if (gone.length === 0) return files;
  throw new Error(
    `the archive ${from} no longer has ${gone.toSorted().join(', ')}; take them from a --cache, or lock newer ones: npm run image -- --lock`,
  );
};
