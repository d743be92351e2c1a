/** The version of an image, from the player's package to the update by which boxes find it. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { buildBundle } from '../../.scripts/image/bundle.ts';
import { findPlayer } from '../../.scripts/image/player.ts';
import { temporaryFolder } from '../support/service.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

it.each([
  ['1.2.0', '1.2.0', 'latest-image.yml'],
  ['1.2.0~beta.1', '1.2.0-beta.1', 'beta-image.yml'],
])('of a package %s the image is %s, in %s', async (packaged, version, metadata) => {
  const folder = temporaryFolder();
  const [bin, slot, bundle] = ['bin', 'slot', 'x.raucb'].map((name) => join(folder, name)) as [string, string, string];
  mkdirSync(bin);
  for (const [name, body] of [
    ['dpkg-deb', `case $3 in Version) echo '${packaged}' ;; *) echo signage-player ;; esac`],
    ['rauc', `for path; do :; done; echo bundle >"$path"`],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  vi.stubEnv('PATH', `${bin}${delimiter}${process.env.PATH}`);
  for (const each of [slot, join(folder, 'player.deb')]) writeFileSync(each, '');
  const player = await findPlayer({ deb: join(folder, 'player.deb'), standin: false }, folder, () => {});
  expect(player.version).toBe(version);
  buildBundle(slot, player.version, { key: '', certificate: '' }, folder, bundle);
  expect(JSON.parse(readFileSync(join(folder, metadata), 'utf8')).version).toBe(version);
});
