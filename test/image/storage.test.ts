/** What the data of an older image become in a newer one: the lines of the script, with stand-ins for what only root may. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
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
