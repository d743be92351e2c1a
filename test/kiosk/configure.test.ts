/** The settings that the kiosk changes in the operator's file. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createServiceHost } from '../../main/service-host.ts';
import { FolderTaken, lockFolder } from '../../service/platform/store/lock.ts';
import { temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const root = join(import.meta.dirname, '..', '..');
const secret = 'long enough to be good';

const hostIn = (dataDir: string) => {
  vi.stubEnv('SIGNAGE_HOST', '127.0.0.1');
  vi.stubEnv('SIGNAGE_PORT', '0');
  vi.stubEnv('SIGNAGE_DISCOVERY', 'off');
  vi.stubEnv('SIGNAGE_LOG_LEVEL', 'silent');
  onTestFinished(() => void vi.unstubAllEnvs());
  return createServiceHost(
    {
      dataDir,
      rendererDir: join(root, 'dist', 'renderer'),
      resourcesDir: join(root, 'resources'),
    },
    {
      kiosk: () => ({ screens: [] }) as never,
      capture: () => null,
      operate: () => Promise.reject(new Error('not here')),
      runScript: () => Promise.reject(new Error('not here')),
      restart: () => {},
    },
  );
};

/** A kiosk's service with a configuration, as a person and a program may have left it. */
const hostWith = async (text: string | null) => {
  const dataDir = temporaryFolder();
  const path = join(dataDir, 'config.json');
  if (text !== null) writeFileSync(path, text);
  const host = hostIn(dataDir);
  const service = await host.start();
  onTestFinished(() => service.close());
  const files = host.files();
  if (files === null) throw new Error('there are no files');
  return { path, files, service, read: (): unknown => JSON.parse(readFileSync(path, 'utf8')) };
};

it.runIf(process.platform !== 'win32')('leaves it the link and the rights that it has', async () => {
  const { path, files, read } = await hostWith('{"site":"hotel"}');
  const real = join(temporaryFolder(), 'hotel.json');
  writeFileSync(real, readFileSync(path));
  chmodSync(real, 0o664);
  rmSync(path);
  symlinkSync(real, path);
  await files.configure({ rotation: 90 });
  expect(read()).toEqual({ site: 'hotel', kiosk: { rotation: 90 } });
  expect([lstatSync(path).isSymbolicLink(), statSync(real).mode & 0o777]).toEqual([true, 0o664]);
});

it('names the folders of media where no service starts, and judges with the secret of the environment', () => {
  const dataDir = temporaryFolder();
  vi.stubEnv('SIGNAGE_MEDIA_DIR', '/srv/copies');
  vi.stubEnv('SIGNAGE_SHARED_SECRET', secret);
  const host = hostIn(dataDir);
  const path = join(dataDir, 'config.json');
  expect(host.mediaFolders()).toEqual(['/srv/copies']);
  writeFileSync(path, '{"SIGNAGE_UPLOAD_DIR":"/srv/uploads","timeZone":"Mars"}');
  expect(host.mediaFolders()).toEqual(['/srv/uploads', '/srv/copies']);
  writeFileSync(path, '{"requirePeople":"on"}');
  expect(host.checkConfig(dataDir)).toEqual([]);
});

it('makes one where there is none, for nobody else to read, and keeps changes that come together', async () => {
  const { path, files, read } = await hostWith(null);
  await Promise.all([files.configure({ rotation: 90 }), files.configure({ displays: 'primary' })]);
  expect(read()).toEqual({ kiosk: { rotation: 90, displays: 'primary' } });
  expect(files.settings).toMatchObject({ rotation: 90, displays: 'primary' });
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('keeps the secret that the service writes while the kiosk changes a setting', async () => {
  const { files, service, read } = await hostWith(null);
  const [, { secret: made }] = await Promise.all([files.configure({ rotation: 90 }), service.protect()]);
  expect(read()).toEqual({ sharedSecret: made, kiosk: { rotation: 90 } });
});

it.each([
  ['is not JSON', `{"sharedSecret":"${secret}",}`, /config\.json is not JSON; check its quotes, commas and brackets$/],
  ['is a list', '[]', /config\.json must contain a JSON object of settings$/],
  [
    'has a bad value in it',
    `{"sharedSecret":"${secret}","kiosk":{"pin":12}}`,
    /^config\.json: kiosk\.pin is not valid; expected 4 to 12 digits in quotes$/,
  ],
  ['has no section but a word', '{"kiosk":"all"}', /^config\.json: kiosk is not valid; expected an object$/],
])('a file that %s is left as it is, with a sentence', async (_, text, sentence) => {
  const { path, files } = await hostWith('{}');
  writeFileSync(path, text);
  await expect(files.configure({ rotation: 90 })).rejects.toThrow(sentence);
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(files.settings.rotation).toBe(0);
});

it('what can not be read is not taken for empty', async () => {
  const { path, files } = await hostWith('{}');
  rmSync(path);
  mkdirSync(path);
  await expect(files.configure({ rotation: 90 })).rejects.toThrow(/config\.json cannot be read: /);
});

it('touches nothing in the folder of another player', walk, async () => {
  const dataDir = temporaryFolder();
  // As the other one has it while it writes.
  writeFileSync(join(dataDir, 'config.json.e7a7f6f2-32a7-4f0e-9d51-6d3f3c0ae2bb.tmp'), '{}');
  const before = readdirSync(dataDir);
  const rival = await lockFolder({ dataDir, environment: process.env, log: pino({ level: 'silent' }) });
  const host = hostIn(dataDir);
  await expect(host.start()).rejects.toThrow(FolderTaken);
  expect(readdirSync(dataDir).filter((name) => !['uploads', 'media'].includes(name))).toEqual(before);
  expect(host.files()).toBeNull();
  await rival.close();
  const service = await host.start();
  onTestFinished(() => service.close());
  expect(host.files()?.settings).toMatchObject({ rotation: 0 });
});
