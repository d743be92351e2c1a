/** What would be shipped: opened, weighed, and started from its own files. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listPackage } from '@electron/asar';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { refusedSwitches } from '../../main/switches.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { startHeadless } from '../platform/options/process.ts';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';
import { type Packaged, packageApp, readFuses } from './packaged.ts';

const root = join(import.meta.dirname, '..', '..');
const MIB = 1024 ** 2;
/** Most that the app itself may weigh; Electron comes on top. */
const MOST_BYTES = 18 * MIB;

let app: Packaged;
let files: string[];
beforeAll(async () => {
  app = await packageApp();
  files = listPackage(join(app.resources, 'app.asar'), { isPack: false }).map((path) => path.replaceAll('\\', '/'));
}, 180_000);

/** The folders of libraries in some paths. */
const librariesIn = (paths: string[]): string[] => [
  ...new Set(paths.flatMap((path) => /.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? [])),
];

test('holds no development dependency, beside the bundles or in them', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  expect(['', '/node_modules/ffmpeg-static']).toContain(librariesIn(files).join());
  const maps = ['main', 'service', 'shared'].flatMap((folder) => {
    const path = join(root, 'dist', folder);
    return readdirSync(path).flatMap((name) => (name.endsWith('.map') ? join(path, name) : []));
  });
  const sources = maps.flatMap((map) => JSON.parse(readFileSync(map, 'utf8')).sources as string[]);
  const bundled = librariesIn(sources).map((path) => path.slice(path.indexOf('node_modules/')));
  expect(bundled).toContain('node_modules/koa');
  expect(bundled.filter((path) => packages[path]?.dev ?? packages[path] === undefined)).toEqual([]);
});

test('holds nothing that only developers need', () => {
  const idle = /\.(map|[mc]?ts|flow|md|tsbuildinfo)$|\/(\.github|tests?|__tests__|docs?|examples?)\//;
  // The documents of the API are a page of every box.
  const unused = files.filter((path) => idle.test(path) && !path.startsWith('/dist/renderer/docs/'));
  expect(unused).toEqual([]);
  expect(files.filter((path) => /^\/(service|main|renderer|test|\.scripts)\//.test(path))).toEqual([]);
});

test('an AppImage passes no switch that the kiosk refuses, and its runtime needs no library of the system', () => {
  const { desktop, toolset } = app.appImage;
  const [, words = ''] = /^Exec=(.*)$/m.exec(desktop) ?? [];
  expect(words).toMatch(/^AppRun /);
  expect(refusedSwitches(words.split(' '))).toEqual([]);
  expect(desktop).toContain(`X-AppImage-Version=${packageJson.version}\n`);
  // Those of version 0 need libfuse2.
  expect(toolset).toMatch(/^[1-9]/);
});

test('weighs what it may', () => {
  const { size } = statSync(join(app.resources, 'app.asar'));
  console.log(`app.asar: ${(size / MIB).toFixed(1)} MiB, ${files.length} files`);
  expect(size).toBeLessThan(MOST_BYTES);
});

test('its fuses are set', () => {
  expect(readFuses(readFileSync(join(app.folder, 'signage-player')))).toEqual({
    runAsNode: false,
    cookieEncryption: true,
    nodeOptions: false,
    inspectArguments: false,
    asarIntegrity: true,
    onlyLoadAppFromAsar: true,
    browserSnapshot: false,
    fileProtocolPrivileges: false,
  });
});

test('knows where updates come from, and brings what the machine needs beside it', () => {
  expect(parse(readFileSync(join(app.resources, 'app-update.yml'), 'utf8'))).toEqual({
    provider: 'generic',
    url: 'http://signage-updates.local/',
    updaterCacheDirName: 'signage-player-updater',
  });
  expect(readdirSync(join(app.resources, 'demo'))).toEqual(['content.json', 'media']);
  const linux = readdirSync(join(app.resources, 'linux'));
  expect(linux).toEqual(
    expect.arrayContaining([
      'cursors',
      'kiosk-setup',
      'session',
      'signage-player.service',
      'sway.conf',
      'update-player',
    ]),
  );
  expect(linux).not.toContain('postinst');
  expect(statSync(join(app.resources, 'linux', 'kiosk-setup')).mode & 0o111).toBe(0o111);
});

test.skipIf(!existsSync(join(root, 'node_modules', 'ffmpeg-static', 'ffmpeg')))(
  'ffmpeg lies outside the archive',
  () => {
    expect(existsSync(join(app.resources, 'app.asar.unpacked', 'node_modules', 'ffmpeg-static', 'ffmpeg'))).toBe(true);
  },
);

test.skipIf(process.platform === 'win32')(
  'the command line lies outside the archive, and says what it needs',
  async () => {
    const command = join(app.resources, 'linux', 'signage');
    const link = join(temporaryFolder(), 'signage');
    symlinkSync(command, link);
    const run = promisify(execFile);
    expect((await run(link, ['--version'])).stdout).toBe(`${packageJson.version}\n`);
    expect(files.filter((path) => path.startsWith('/dist/cli'))).toEqual([]);
    // A machine without Node, or with that of Debian 11.
    for (const script of [null, 'echo v12.22.12']) {
      const bin = temporaryFolder();
      for (const name of ['dirname', 'readlink']) symlinkSync(findProgram(name) ?? '', join(bin, name));
      if (script !== null) writeFileSync(join(bin, 'node'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      await expect(run(link, ['--version'], { env: { PATH: bin } })).rejects.toMatchObject({
        code: 78,
        stderr: 'signage needs Node.js 18 or newer. Run: sudo apt install nodejs\n',
      });
    }
  },
);

test('the service finds all that it serves among its files', async () => {
  // The kiosk hosts it; here it is that of plain Node, which is not packaged.
  const folder = join(app.extracted, 'dist', 'service');
  expect(readdirSync(folder).filter((name) => name.startsWith('headless'))).toEqual([]);
  for (const name of ['headless.js', 'headless.cjs']) cpSync(join(root, 'dist', 'service', name), join(folder, name));
  const entry = join(folder, 'headless.js');
  const url = await startHeadless({ SIGNAGE_DATA_DIR: temporaryFolder() }, entry).ready();
  expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ status: 'ok', content: { status: 'ok' } });
  const page = await (await fetch(`${url}/screen/demo`)).text();
  const assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
  expect(assets.length).toBeGreaterThan(0);
  for (const path of assets) expect((await fetch(url + path)).status).toBe(200);
  expect((await fetch(`${url}/media/demo-courtyard.jpg`)).status).toBe(200);
});
