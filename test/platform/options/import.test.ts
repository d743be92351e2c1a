/** The configuration of a machine, as the start of the headless package has it imported. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importConfig, withImported } from '../../../service/platform/options/import.ts';
import { temporaryFolder } from '../../support/service.ts';
import { walk } from '../../support/soak.ts';
import { startHeadless } from './process.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const secret = 'a-secret-of-the-box-itself-0123456789';

test.each([
  ['nothing that is not named stays', { site: 'north', sharedSecretPrevious: 'b' }, { port: 2 }, { port: 2 }],
  ['the section of the kiosk is replaced, too', { kiosk: { pin: '1' } }, { kiosk: {} }, { kiosk: {} }],
  ['an empty file says nothing', { sharedSecret: 'a', site: 'north' }, {}, { sharedSecret: 'a', site: 'north' }],
  ['the secret stays', { sharedSecret: 'a' }, { site: 'north' }, { sharedSecret: 'a', site: 'north' }],
  ['the secret stays where it is empty', { SIGNAGE_SHARED_SECRET: 'a' }, { sharedSecret: '' }, { sharedSecret: 'a' }],
  ['another secret counts', { SIGNAGE_SHARED_SECRET: 'a' }, { sharedSecret: 'b' }, { sharedSecret: 'b' }],
])('of an import %s', (_, own, given, expected) => {
  expect(withImported(own, given)).toEqual(expected);
});

const sumOf = (text: string) => createHash('sha256').update(text).digest('hex');

test.each([
  ['without a mark', () => '', true],
  ['with that of another file', () => `${sumOf('other')}  -\n`, true],
  ['with its own', (sum: string) => `${sum}  -\n`, false],
  ['with that of a kiosk', (sum: string) => `${sumOf('other')}\n${sum}\n`, false],
  ['that did not come to the settings', (sum: string, own: string) => `pending ${sum} over ${own}\n`, true],
  ['after which the box was changed', (sum: string) => `pending ${sum} over ${sumOf('before')}\n`, false],
])('a file %s is imported as its mark says, which is whole then', async (_, markOf, isImported) => {
  const folder = temporaryFolder();
  const [path, own] = [join(folder, 'given.json'), JSON.stringify({ site: 'north' })];
  const [given, mark] = [JSON.stringify({ site: 'south' }), join(folder, 'config.imported')];
  writeFileSync(path, given);
  writeFileSync(join(folder, 'config.json'), own);
  writeFileSync(mark, markOf(sumOf(given), sumOf(own)));
  expect(await importConfig(path, folder, {})).toBeNull();
  expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))).toEqual({
    site: isImported ? 'south' : 'north',
  });
  expect(readFileSync(mark, 'utf8').split(/\s/)).toContain(sumOf(given));
  expect(readFileSync(mark, 'utf8')).not.toContain('pending');
});

test('an import that cannot be written is tried again, although the box was changed since', async () => {
  const folder = temporaryFolder();
  const [path, target] = [join(folder, 'given.json'), join(folder, 'config.json')];
  writeFileSync(path, JSON.stringify({ site: 'south' }));
  // Beside a file of such a name no temporary one can be.
  const long = join(folder, 'x'.repeat(250));
  writeFileSync(long, JSON.stringify({ site: 'north' }));
  symlinkSync(long, target);
  expect(await importConfig(path, folder, {})).toContain('ENAMETOOLONG');
  rmSync(target);
  writeFileSync(target, JSON.stringify({ site: 'east' }));
  expect(await importConfig(path, folder, {})).toBeNull();
  expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual({ site: 'south' });
});

/** A box whose start is that of the package, with what stands in its folders. */
const createBox = (own: object | null, env: Record<string, string> = {}) => {
  const folder = temporaryFolder();
  const [dataDir, config] = [join(folder, 'data'), join(folder, 'config.json')];
  mkdirSync(dataDir);
  if (own !== null) writeFileSync(join(dataDir, 'config.json'), JSON.stringify(own));
  const script = readFileSync(join(root, 'resources', 'linux', 'headless', 'start'), 'utf8')
    .replaceAll('/usr/lib/signage-player-headless/node', process.execPath)
    .replaceAll('/usr/lib/signage-player-headless', root)
    .replaceAll('/etc/signage-player/config.json', config);
  const start = join(folder, 'start');
  writeFileSync(start, script, { mode: 0o755 });
  const run = () => startHeadless({ SIGNAGE_DATA_DIR: dataDir, ...env }, start, undefined, '/bin/sh');
  return {
    run,
    dataDir,
    write: (given: unknown) => writeFileSync(config, typeof given === 'string' ? given : JSON.stringify(given)),
    settings: () => JSON.parse(readFileSync(join(dataDir, 'config.json'), 'utf8')) as object,
    /** Starts it, and stops it once it plays. @returns its warnings */
    warnings: async (): Promise<string[]> => {
      const service = run();
      const url = await service.ready();
      const { warnings } = (await (await fetch(`${url}/healthz`)).json()) as { warnings: string[] };
      service.child.kill('SIGTERM');
      await service.ended;
      return warnings.filter((each) => each.includes('imported'));
    },
  };
};

test.skipIf(process.platform === 'win32')(
  'the start of the headless package imports a configuration once, and keeps its secret',
  { timeout: 60_000 },
  async () => {
    const box = createBox({ sharedSecret: secret, site: 'north', logLevel: 'warn' });
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
  { ...walk, timeout: 60_000 },
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

test.skipIf(process.platform === 'win32')(
  'a box without settings of its own does not start where the import fails',
  { ...walk, timeout: 60_000 },
  async () => {
    const valid = { sharedSecret: secret };
    const box = createBox(null);
    const fails = async (given: unknown, cause: string, { run, write, dataDir } = box) => {
      write(given);
      const { ended, printed } = run();
      expect(await ended).toBe(78);
      expect(printed).toEqual({ stdout: '', stderr: expect.stringContaining(cause) });
      expect(existsSync(join(dataDir, 'config.json'))).toBe(false);
    };
    await fails(`{ "sharedSecret": "${secret}", }`, 'is not JSON');
    await fails({ sharedSecret: secret, discovery: 'perhaps' }, '"perhaps" is not valid');
    await fails(valid, 'ENOENT', createBox(null, { TMPDIR: '/nonexistent' }));
    // A file system that takes no writes, as a full one.
    mkdirSync(join(box.dataDir, 'config.imported'));
    await fails(valid, 'could not be imported');
    rmSync(join(box.dataDir, 'config.imported'), { recursive: true });
    expect(await box.warnings()).toEqual([]);
    expect(box.settings()).toEqual(valid);
  },
);
