/** What the data of an older image become in a newer one: the lines of the script, with stand-ins for what only root may. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { layout, SECTOR, tableOf } from '../../.scripts/image/layout.ts';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..', 'resources/image/root/usr/lib');
const script = join(root, 'signage/storage');
process.env.PATH += ':/usr/sbin:/sbin';

it.each([
  ['of another account', 'UNKNOWN', true],
  ['of the player', 'signage', false],
])('data %s are given to the player, those at the top last', (_, owner, areGiven) => {
  const folder = temporaryFolder();
  const [bin, player, calls] = ['bin', 'player', 'calls'].map((name) => join(folder, name)) as [string, string, string];
  for (const each of [bin, join(player, 'updates')]) mkdirSync(each, { recursive: true });
  for (const each of ['state.json', 'updates/state.json']) writeFileSync(join(player, each), '');
  writeFileSync(calls, '');
  for (const [name, body] of [
    ['stat', `echo ${owner}`],
    ['chown', `[ "$1 $2" = "--no-dereference signage:signage" ] && shift 2 && printf '%s\\n' "$@" >>'${calls}'`],
    ['install', `echo made >>'${calls}'`],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const [, lines = ''] = /^(player=\/var[^]*?^install -d .*)$/m.exec(readFileSync(script, 'utf8')) ?? [];
  const here = lines.replace('/var/lib/signage-player', player);
  execFileSync('bash', ['-euc', here], { stdio: 'ignore', env: { PATH: `${bin}:${process.env.PATH}` } });
  const given = readFileSync(calls, 'utf8').trimEnd().split('\n');
  const inside = ['state.json', 'updates', 'updates/state.json'].map((path) => join(player, path));
  expect(given.slice(0, -2).toSorted()).toEqual(areGiven ? inside.toSorted() : []);
  expect(given.slice(-2)).toEqual(areGiven ? [player, 'made'] : ['made']);
});

const isSkipped = process.env['CI'] !== 'true' && ['sfdisk', 'systemd-repart'].some((name) => !findProgram(name));

it.skipIf(isSkipped).each([8_004_304_896, 16_000_000_000, 16_008_609_792, 31_914_983_424])(
  'on a disk of %i bytes the partition of adopted data is as large as the first start made it',
  (size) => {
    const folder = temporaryFolder();
    const [disk, definitions] = [join(folder, 'disk'), join(folder, 'repart.d')];
    writeFileSync(disk, '');
    truncateSync(disk, size);
    mkdirSync(definitions);
    for (const name of readdirSync(join(root, 'repart.d'))) {
      const text = readFileSync(join(root, 'repart.d', name), 'utf8');
      writeFileSync(join(definitions, name), text.replace(/^Format=.*$/m, ''));
    }
    const dataOf = (): unknown => {
      const { partitiontable } = JSON.parse(execFileSync('sfdisk', ['--json', disk], { encoding: 'utf8' }));
      const { start, size: length } = partitiontable.partitions[layout.dataNumber - 1];
      return { start, length };
    };
    const writeImage = (): void =>
      void execFileSync('sfdisk', ['--quiet', '--wipe', 'never', disk], { input: tableOf('x') });
    writeImage();
    const words = ['--dry-run=no', '--empty=refuse', `--definitions=${definitions}`, '--pretty=no', disk];
    execFileSync('systemd-repart', words, { stdio: 'ignore' });
    const made = dataOf();

    writeImage();
    const [, lines = ''] = /^( *sectors=[^]*?sfdisk .*)$/m.exec(readFileSync(script, 'utf8')) ?? [];
    writeFileSync(join(folder, 'size'), String(size / SECTOR));
    const here = lines.replace('/sys/block/$disk/size', join(folder, 'size')).replace('/dev/$disk', disk);
    const env = { PATH: process.env.PATH, DATA_START: String(layout.dataStart / SECTOR) };
    execFileSync('bash', ['-euc', here], { stdio: 'ignore', env });
    expect(dataOf()).toEqual(made);
  },
);

/** A file system with the label of the data on a disk, and what is done to it. */
const makeData = (disk: string, harm: { at: number; zeros: number } | null): void => {
  writeFileSync(disk, '');
  truncateSync(disk, layout.dataStart + 2 ** 28);
  const words = ['-q', '-F', '-t', 'ext4', '-b', '4096', '-L', 'signage-data', '-E', `offset=${layout.dataStart}`];
  execFileSync('mke2fs', [...words, disk, '65536'], { stdio: 'ignore' });
  if (harm === null) return;
  const file = openSync(disk, 'r+');
  writeSync(file, Buffer.alloc(harm.zeros), 0, harm.zeros, layout.dataStart + harm.at);
  closeSync(file);
};

it.skipIf(isSkipped).each([
  ['that are whole', null, true],
  ['whose superblock has a wrong sum', { at: 1024 + 0x3fc, zeros: 4 }, true],
  ['whose superblock is gone', { at: 0, zeros: 4096 }, true],
  ['that were overwritten', { at: 0, zeros: 33_000 * 4096 }, false],
])('data %s are found, or not', (_, harm, isThere) => {
  const disk = join(temporaryFolder(), 'disk');
  makeData(disk, harm);
  const [lines = ''] = /^has_data\(\) \{[^]*?^\}$/m.exec(readFileSync(script, 'utf8')) ?? [];
  const here = `${lines.replace('/dev/$disk', disk)}\nif has_data; then echo yes; else echo no; fi`;
  const env = { PATH: process.env.PATH, DATA_START: String(layout.dataStart / SECTOR) };
  expect(
    execFileSync('bash', ['-euc', here], { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] }).trim(),
  ).toBe(isThere ? 'yes' : 'no');
});

it.skipIf(isSkipped)('a file system from a larger disk is fitted to the partition, with what is in it', () => {
  const folder = temporaryFolder();
  const [data, file] = [join(folder, 'data'), join(folder, 'file')];
  writeFileSync(file, 'kept');
  writeFileSync(data, '');
  truncateSync(data, 2 ** 28);
  execFileSync('mke2fs', ['-q', '-F', '-t', 'ext4', '-b', '4096', data], { stdio: 'ignore' });
  execFileSync('debugfs', ['-w', '-R', `write ${file} file`, data], { stdio: 'ignore' });
  truncateSync(data, 2 ** 28 - 2 ** 20);
  const [, lines = ''] = /^(blocks=[^]*?^fi)$/m.exec(readFileSync(script, 'utf8')) ?? [];
  const sectors = String((2 ** 28 - 2 ** 20) / SECTOR);
  const here = `stop() { exit 9; }\n${lines.replace('$(blockdev --getsz "$data")', sectors)}\ne2fsck -fn "$data"`;
  execFileSync('bash', ['-euc', here], { stdio: 'ignore', env: { PATH: process.env.PATH, data } });
  expect(execFileSync('debugfs', ['-R', 'cat file', data], { encoding: 'utf8' })).toBe('kept');
});
