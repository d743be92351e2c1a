/** What the data of an older image become in a newer one: the lines of the script, with stand-ins for what only root may. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/service.ts';

const script = join(import.meta.dirname, '..', '..', 'resources/image/root/usr/lib/signage/storage');

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
