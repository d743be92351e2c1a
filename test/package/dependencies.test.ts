/** Whether a machine without a desktop has every library that Electron needs once the deb is installed. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findProgram } from '../support/program.ts';
import { walk } from '../support/soak.ts';

const root = join(import.meta.dirname, '..', '..');
const execute = promisify(execFile);

const { deb } = parse(readFileSync(join(root, 'electron-builder.yml'), 'utf8')) as {
  deb: Record<'depends' | 'recommends' | 'fpm', string[]>;
};

const libraries = readFileSync(join(import.meta.dirname, 'electron-libraries.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' '));

const aptCache = async (...words: string[]): Promise<string> => (await execute('apt-cache', words)).stdout;

/** Those of some names that APT can install here, itself or by a package that provides it; it reads its lists at each call. */
const findKnown = async (names: readonly string[]): Promise<Set<string>> => {
  const policies = (await aptCache('policy', ...names)).split(/^(?=\S)/m);
  const known = policies.flatMap((each) => (/Candidate: [^(\s]/.test(each) ? (/^[^:]+/.exec(each)?.[0] ?? []) : []));
  const others = names.filter((name) => !known.includes(name));
  const details = others.length === 0 ? [] : (await aptCache('showpkg', ...others)).split(/^(?=Package: )/m);
  const provided = details.filter((each) => /\nReverse Provides: *\n\S/.test(each));
  return new Set([...known, ...provided.flatMap((each) => /^Package: (\S+)/.exec(each)?.[1] ?? [])]);
};

/** The packages that dependencies such as `a | b` install: the first of each that there is. */
const choose = async (dependencies: readonly string[]): Promise<string[]> => {
  const alternatives = dependencies.map((each) => each.split(' | '));
  const known = await findKnown(alternatives.flat());
  return alternatives.map((names) => {
    const first = names.find((name) => known.has(name));
    if (first === undefined) throw new Error(`${names.join(' | ')} is not in the archive`);
    return first;
  });
};

/** Packages with all that they depend on; recommendations are left out. */
const closureOf = async (packages: readonly string[]): Promise<Set<string>> => {
  const leftOut = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map(
    (kind) => `--no-${kind}`,
  );
  const text = await aptCache('depends', '--recurse', ...leftOut, ...packages);
  return new Set(text.split('\n').filter((line) => /^[a-z\d]/.test(line)));
};

// Elsewhere the packages have other names.
const hasArchive = findProgram('apt-cache') !== undefined && (await findKnown(['libnss3'])).size > 0;
describe.skipIf(!hasArchive)('the libraries of the deb (needs APT and its lists)', () => {
  test('what the deb depends on for Electron brings each library that Electron needs', {
    ...walk,
    timeout: 120_000,
  }, async () => {
    // The compositor's own dependencies must not stand in for Electron's: it may change.
    const own = deb.depends.filter((name) => name.startsWith('lib'));
    const installed = await closureOf(await choose(own));
    expect(installed.size).toBeGreaterThan(deb.depends.length);
    const missing = libraries.filter(([, ...packages]) => !packages.some((name) => installed.has(name)));
    expect(missing).toEqual([]);
  });
});

test('a later version depends on nothing that the first did not, and recommends the rest', () => {
  // An update is put in by dpkg alone. This list never grows.
  const first = [
    ...['libgtk-3-0', 'libnotify4', 'libnss3', 'libxss1', 'libxtst6', 'xdg-utils', 'libatspi2.0-0'],
    ...['libasound2t64 | libasound2', 'libgbm1', 'libuuid1', 'libsecret-1-0'],
    ...['openssl', 'sway', 'swaybg', 'seatd'],
  ];
  expect(deb.depends.filter((each) => !first.includes(each))).toEqual([]);
  expect(deb.recommends).toContain('ffmpeg');
});

test('the deb has the guide, and the folders to which it links', () => {
  const documents = deb.fpm.flatMap(
    (words) => /^resources\/(\w+)\/=\/usr\/share\/doc\/signage-player\/\1$/.exec(words)?.[1] ?? [],
  );
  const guide = join(root, 'resources', 'guide');
  const texts = readdirSync(guide).map((name) => readFileSync(join(guide, name), 'utf8'));
  const linked = texts.flatMap((text) => [...text.matchAll(/\]\(\.\.\/(\w+)\//g)].map(([, name]) => name));
  // What is of Windows is in its own package.
  expect(new Set(['guide', ...linked])).toEqual(new Set([...documents, 'windows']));
});

test('every library names a package, and none is listed twice', () => {
  expect(libraries.length).toBeGreaterThan(30);
  expect(libraries.filter(([, ...packages]) => packages.length === 0)).toEqual([]);
  expect(new Set(libraries.map(([soname]) => soname)).size).toBe(libraries.length);
});
