/** The configuration of a machine, as the start of the headless package has it imported. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withImported } from '../../../service/platform/options/import.ts';
import { temporaryFolder } from '../../support/service.ts';
import { startHeadless } from './process.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const secret = 'a-secret-of-the-box-itself-0123456789';

test.each([
  ['a setting that is not named stays', { site: 'north', port: 1 }, { port: 2 }, { site: 'north', port: 2 }],
  ['a setting is named by its variable as well', { port: 1 }, { SIGNAGE_PORT: 2 }, { SIGNAGE_PORT: 2 }],
  ['null takes one away', { site: 'north', port: 1 }, { site: null }, { site: null, port: 1 }],
  ['the secret stays', { sharedSecret: 'a' }, { site: 'north' }, { sharedSecret: 'a', site: 'north' }],
  [
    'the secret stays where it is empty',
    { SIGNAGE_SHARED_SECRET: 'a' },
    { sharedSecret: '' },
    { SIGNAGE_SHARED_SECRET: 'a' },
  ],
  ['another secret counts', { SIGNAGE_SHARED_SECRET: 'a' }, { sharedSecret: 'b' }, { sharedSecret: 'b' }],
])('of an import %s', (_, own, given, expected) => {
  expect(withImported(own, given)).toEqual(expected);
});

/** A box whose start is that of the package, with what stands in its folders. */
const createBox = (own: object) => {
  const folder = temporaryFolder();
  const [dataDir, config] = [join(folder, 'data'), join(folder, 'config.json')];
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'config.json'), JSON.stringify(own));
  const script = readFileSync(join(root, 'resources', 'linux', 'headless', 'start'), 'utf8')
    .replaceAll('/usr/lib/signage-player-headless/node', process.execPath)
    .replaceAll('/usr/lib/signage-player-headless', root)
    .replaceAll('/etc/signage-player/config.json', config);
  const start = join(folder, 'start');
  writeFileSync(start, script, { mode: 0o755 });
  return {
    dataDir,
    write: (given: unknown) => writeFileSync(config, typeof given === 'string' ? given : JSON.stringify(given)),
    settings: () => JSON.parse(readFileSync(join(dataDir, 'config.json'), 'utf8')) as object,
    /** Starts it, and stops it once it plays. @returns its warnings */
    warnings: async (): Promise<string[]> => {
      const service = startHeadless({ SIGNAGE_DATA_DIR: dataDir }, start, undefined, '/bin/sh');
      const url = await service.ready();
      const { warnings } = (await (await fetch(`${url}/healthz`)).json()) as { warnings: string[] };
      service.child.kill('SIGTERM');
      await service.ended;
      return warnings.filter((each) => each.includes('imported'));
    },
  };
};

test.skipIf(process.platform === 'win32')(
  'the start of the headless package imports a configuration once, and keeps what it does not name',
  { timeout: 60_000 },
  async () => {
    const box = createBox({ sharedSecret: secret, site: 'north' });
    box.write({ site: 'south' });
    expect(await box.warnings()).toEqual([]);
    expect(box.settings()).toEqual({ sharedSecret: secret, site: 'south' });
    // What is changed at the box afterwards stays.
    writeFileSync(join(box.dataDir, 'config.json'), JSON.stringify({ sharedSecret: secret, site: 'east' }));
    expect(await box.warnings()).toEqual([]);
    expect(box.settings()).toEqual({ sharedSecret: secret, site: 'east' });
  },
);

test.skipIf(process.platform === 'win32')(
  'an import that fails does not keep the headless package from starting, and is tried again',
  { timeout: 60_000 },
  async () => {
    const own = { sharedSecret: secret };
    const box = createBox(own);
    for (const [given, cause] of [
      ['{ "site": ', 'is not JSON'],
      [{ discovery: 'perhaps' }, '"perhaps" is not valid'],
    ] as const) {
      box.write(given);
      expect(await box.warnings()).toEqual([expect.stringContaining(cause)]);
      expect(box.settings()).toEqual(own);
    }
    // A file system that takes no writes, as a full one.
    box.write({ site: 'south' });
    mkdirSync(join(box.dataDir, 'config.imported'));
    expect(await box.warnings()).toEqual([expect.stringContaining('could not be imported')]);
    rmSync(join(box.dataDir, 'config.imported'), { recursive: true });
    expect(await box.warnings()).toEqual([]);
    expect(box.settings()).toEqual({ sharedSecret: secret, site: 'south' });
  },
);
