/** The package for Debian: dpkg-deb builds it from the fields and scripts of electron-builder.yml. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { parse } from 'yaml';
import type { Packaged } from '../package/packaged.ts';
import { type OnEnd, temporaryFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');
export const product = 'Signage Player';
export const program = 'signage-player';

/** @throws Error if the program fails */
export const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 });

/**
 * @param launcher a script in the place of the runtime
 * @param onEnd when its folder goes
 * @returns the path of the package
 */
export const buildDeb = ({ folder }: Packaged, version: string, launcher?: string, onEnd: OnEnd = afterAll): string => {
  const { deb, linux } = parse(readFileSync(join(root, 'electron-builder.yml'), 'utf8'));
  const work = temporaryFolder(onEnd);
  const tree = join(work, 'tree');
  mkdirSync(join(tree, 'opt'), { recursive: true });
  mkdirSync(join(tree, 'DEBIAN'));
  cpSync(folder, join(tree, 'opt', product), { recursive: true });
  writeFileSync(join(tree, 'opt', product, 'chrome-sandbox'), '');
  for (const words of deb.fpm as string[]) {
    const [from = '', to] = words.split('=/');
    if (to === undefined) continue;
    mkdirSync(dirname(join(tree, to)), { recursive: true });
    cpSync(join(root, from), join(tree, to), { recursive: true });
  }
  if (launcher !== undefined) writeFileSync(join(tree, 'opt', product, program), launcher, { mode: 0o755 });
  const wordOf = (option: string): string =>
    (deb.fpm as string[]).flatMap((words) => new RegExp(`^--${option}=(.*)`).exec(words)?.[1] ?? []).join(', ');
  const fields = {
    Package: program,
    Version: version,
    Architecture: 'amd64',
    Maintainer: linux.maintainer,
    Depends: deb.depends.join(', '),
    Recommends: deb.recommends.join(', '),
    Conflicts: wordOf('conflicts'),
    Replaces: wordOf('replaces'),
    Description: linux.synopsis,
  };
  const control = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`);
  writeFileSync(join(tree, 'DEBIAN', 'control'), control.join(''));
  for (const name of ['postinst', 'postrm', 'prerm']) {
    const script = readFileSync(join(root, 'resources', 'linux', name), 'utf8')
      .replaceAll(/\$\{sanitizedProductName\}/g, product)
      .replaceAll(/\$\{executable\}/g, program);
    writeFileSync(join(tree, 'DEBIAN', name), script);
    chmodSync(join(tree, 'DEBIAN', name), 0o755);
  }
  const file = join(work, `${program}-${version}.deb`);
  run('dpkg-deb', '--build', '--root-owner-group', '-Znone', tree, file);
  return file;
};
