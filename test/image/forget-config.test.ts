/** What becomes of the configuration on the partition that every PC reads. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';

const script = join(import.meta.dirname, '..', '..', 'resources/image/root/usr/lib/signage/forget-config');
const kept = '{"keep":true,"kiosk":{"network":{"wifi":{"password":"secret"}}}}';

it.each<[string, string, string[], isImported: boolean, isRemoved: boolean, last?: string]>([
  ['one that was imported', '{}', [], true, true],
  ['the last one that was imported', '{}', [], true, true, '{}'],
  ['one after which another was imported', '{}', [], true, false, kept],
  ['one after which another was imported, by a reset', '{}', ['even-kept'], true, true, kept],
  ['one that says "keep"', kept, [], true, false],
  ['one that says "keep", by a reset', kept, ['even-kept'], true, true],
  ['one that was not imported, by a reset', kept, ['even-kept'], false, false],
])('%s is removed with its bytes, or stays', (_, text, words, isImported, isRemoved, last) => {
  const folder = temporaryFolder();
  const [bin, partition, calls] = ['bin', 'partition', 'calls'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [bin, partition]) mkdirSync(each);
  for (const [name, body] of [
    ['mount', 'true'],
    ['runuser', 'shift 3; exec "$@"'],
    ['shred', `echo "$*" >>'${calls}'; exec ${findProgram('shred')} "$@"`],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  writeFileSync(join(partition, 'config.json'), text);
  const hashOf = (of: string) => createHash('sha256').update(of).digest('hex');
  const line = last === undefined ? '' : `${hashOf(last)}  ${join(partition, 'config.json')}\n`;
  writeFileSync(join(folder, 'config.imported'), `${hashOf(isImported ? text : '')}\n${line}`);
  const env = { PATH: `${bin}:${process.env.PATH}`, FOLDER: partition, PLAYER: folder };
  execFileSync(script, words, { env });
  expect(readdirSync(partition)).toEqual(isRemoved ? [] : ['config.json']);
  const shredded = `--iterations 1 --zero --remove=unlink ${join(partition, 'config.removed')}\n`;
  expect(existsSync(calls) ? readFileSync(calls, 'utf8') : '').toBe(isRemoved ? shredded : '');
});
