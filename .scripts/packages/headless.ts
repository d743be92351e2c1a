/**
 * `npm run package:headless`: the service without a display as a package of Debian, by dpkg-deb. It takes the Node.js that
 * runs this script with it, for systems whose own is too old.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { root } from '../bundles.ts';

export const program = 'signage-player-headless';
const home = join('usr', 'lib', program);
const files = join(root, 'resources', 'linux', 'headless');

/** Where the shells look for completions. */
const completions = {
  'signage.bash': 'usr/share/bash-completion/completions/signage',
  'signage.zsh': 'usr/share/zsh/vendor-completions/_signage',
  'signage.fish': 'usr/share/fish/vendor_completions.d/signage.fish',
};

interface Recipe {
  linux: { maintainer: string };
  deb: { recommends: string[]; fpm: string[] };
  extraResources: { from: string; to: string }[];
}

const recipe = (): Recipe => parse(readFileSync(join(root, 'electron-builder.yml'), 'utf8')) as Recipe;

/** @throws Error if this Node.js needs libraries that the package does not have */
const requireWhole = (node: string): void => {
  const libraries = execFileSync('ldd', [node], { encoding: 'utf8' });
  if (!/libnode\.so/.test(libraries)) return;
  throw new Error(
    `${node} needs libnode, which the package has not: use Node.js from nodejs.org or from npm's package node`,
  );
};

/**
 * Copies what the packages install into a folder that becomes the root of a system.
 * @throws Error if the service is not built
 */
export const layOut = (tree: string): void => {
  const own = join(tree, home);
  const copy = (from: string, to: string): void => {
    mkdirSync(dirname(join(own, to)), { recursive: true });
    cpSync(join(root, from), join(own, to), { recursive: true, filter: (path) => !/\.(?:map|code)$/.test(path) });
  };
  copy('dist/service', 'dist/service');
  copy('dist/renderer', 'dist/renderer');
  copy('dist/cli/index.js', 'cli/signage.mjs');
  for (const { from, to } of recipe().extraResources) if (from !== 'resources') copy(from, join('resources', to));
  for (const name of ['node', 'start', 'signage']) copy(join('resources', 'linux', 'headless', name), name);
  writeFileSync(join(own, 'package.json'), '{ "type": "module" }\n');
  requireWhole(process.execPath);
  mkdirSync(join(own, 'bin'));
  cpSync(process.execPath, join(own, 'bin', 'node'));
  mkdirSync(join(tree, 'usr', 'bin'), { recursive: true });
  symlinkSync(`../lib/${program}/signage`, join(tree, 'usr', 'bin', 'signage'));
  const documents = join(tree, 'usr', 'share', 'doc', program);
  mkdirSync(documents, { recursive: true });
  cpSync(join(root, 'LICENSE'), join(documents, 'copyright'));
  // The guide, and what it shows and links to.
  for (const name of ['guide', 'pictures', 'grafana', 'prometheus'])
    cpSync(join(root, 'resources', name), join(documents, name), { recursive: true });
};

/** A version as Debian sorts it: `1.2.0-beta.1` comes before `1.2.0`. */
export const debianVersion = (version: string): string => version.replace('-', '~');

const sizeOf = (folder: string): number =>
  Number(/^\d+/.exec(execFileSync('du', ['--summarize', '--block-size=1K', folder], { encoding: 'utf8' }))?.[0]);

/**
 * @param out the folder that it is written to
 * @param compression of dpkg-deb
 * @returns the path of the package
 */
export const buildHeadless = (out: string, version: string = packageJson.version, compression = 'xz'): string => {
  const work = mkdtempSync(join(tmpdir(), 'signage-package-'));
  try {
    chmodSync(work, 0o755);
    layOut(work);
    for (const [name, to] of Object.entries(completions)) {
      mkdirSync(dirname(join(work, to)), { recursive: true });
      cpSync(join(root, 'dist', 'cli', 'completions', name), join(work, to));
    }
    const units = join(work, 'usr', 'lib', 'systemd', 'system');
    mkdirSync(units, { recursive: true });
    cpSync(join(files, `${program}.service`), join(units, `${program}.service`));

    const { linux, deb } = recipe();
    const suggests = deb.fpm.flatMap((words) => /^--deb-suggests=(.*)/.exec(words)?.[1] ?? []);
    // Of the kiosk's: what the service uses.
    const used = ['ffmpeg', 'libheif-examples', 'bubblewrap', 'nodejs'];
    const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
    const fields = {
      Package: program,
      Version: debianVersion(version),
      Architecture: architecture,
      Maintainer: linux.maintainer,
      'Installed-Size': sizeOf(work),
      Section: 'net',
      Priority: 'optional',
      // Of the Node.js that is inside.
      Depends: 'libc6 (>= 2.28), libstdc++6',
      Recommends: deb.recommends.filter((name) => used.includes(name)).join(', '),
      Suggests: suggests.join(', '),
      Conflicts: 'signage-player',
      Replaces: 'signage-player',
      Description:
        'Digital signage player, without a display\n It serves screens, the console and the API. Any browser in the network is a screen.',
    };
    const control = join(work, 'DEBIAN');
    mkdirSync(control);
    writeFileSync(
      join(control, 'control'),
      Object.entries(fields)
        .map(([name, value]) => `${name}: ${value}\n`)
        .join(''),
    );
    for (const name of ['postinst', 'prerm', 'postrm']) cpSync(join(files, name), join(control, name));
    mkdirSync(out, { recursive: true });
    const file = join(out, `${program}-${version}-${architecture}.deb`);
    const words = ['--build', '--root-owner-group', `-Z${compression}`, work, file];
    execFileSync('dpkg-deb', words, { stdio: ['ignore', 'ignore', 'inherit'] });
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

if (process.argv[1] === import.meta.filename) console.log(buildHeadless(join(root, 'release')));
