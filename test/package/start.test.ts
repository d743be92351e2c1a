/**
 * The packaged app, started as its users start it: the program that SIGNAGE_TEST_PACKAGE names, or, without it, the built
 * archive around the double of Electron, which has no other files than the archive's.
 */
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listPackage } from '@electron/asar';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { describeBrowser, isSkipped } from '../support/browser.ts';
import { doubleArguments } from '../support/electron/bundle.ts';
import { itDouble, patience, startKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';
import { freePort } from '../support/ports.ts';
import { findProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';
import { type Packaged, packageApp } from './packaged.ts';

const root = join(import.meta.dirname, '..', '..');
const given = process.env['SIGNAGE_TEST_PACKAGE'];
const content = lobby([{ id: 'hello', kind: 'text', title: 'Good morning' }]);

let app: Packaged;
beforeAll(async () => {
  if (given === undefined) app = await packageApp();
}, 180_000);

/** The environment in which the double is the packaged app. */
const asPackaged = (): Record<string, string> => ({ DOUBLE_PACKAGED: '1', DOUBLE_APP: app.extracted });

/** The command that starts the packaged app. */
const command = (): [program: string, ...words: string[]] => {
  if (given !== undefined) return [given];
  const entry = join(app.extracted, 'dist', 'main', 'index.js');
  return [process.execPath, ...doubleArguments(), entry];
};

const hasFfmpeg = existsSync(join(root, 'node_modules', 'ffmpeg-static', 'ffmpeg'));

/** A PATH without ffmpeg: an empty one, but an AppImage needs bash, and the double its browser. */
const pathWithout = (): string => {
  if (given !== undefined && !given.endsWith('.AppImage')) return '';
  const folder = temporaryFolder();
  symlinkSync(findProgram('bash') ?? '', join(folder, 'bash'));
  for (const name of ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']) {
    const program = findProgram(name);
    const script = `#!/bin/sh\nPATH='${process.env.PATH}' exec '${program}' "$@"\n`;
    if (program !== undefined) writeFileSync(join(folder, name), script, { mode: 0o755 });
  }
  return folder;
};

describeBrowser('the packaged app', { timeout: 120_000 }, () => {
  it('plays its first slide, and stops when the system asks it to', async () => {
    const dataDir = temporaryFolder();
    const port = await freePort();
    if (given === undefined) {
      // A build with a key has an updater, which is electron-updater's own.
      const { publicKey } = generateKeyPairSync('ed25519');
      writeFileSync(join(app.resources, 'update-key.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
    }
    writeFileSync(join(dataDir, 'content.json'), JSON.stringify(content));
    const kiosk = { displays: [{ display: 1, screen: 'lobby' }] };
    writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ kiosk }));
    const [program, ...words] = command();
    const child = spawn(program, [...words, `--user-data-dir=${join(dataDir, 'profile')}`], {
      cwd: root,
      env: {
        ...process.env,
        ...(given === undefined ? asPackaged() : {}),
        PATH: pathWithout(),
        SIGNAGE_DATA_DIR: dataDir,
        SIGNAGE_HOST: '127.0.0.1',
        SIGNAGE_PORT: String(port),
        SIGNAGE_DISCOVERY: 'off',
      },
      stdio: 'inherit',
    });
    const ended = once(child, 'exit');
    onTestFinished(() => void child.kill('SIGKILL'));
    const health = async () => {
      if (child.exitCode !== null) throw new Error(`the app ended with exit code ${child.exitCode}`);
      const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null);
      return (await answer?.json()) as Health | undefined;
    };
    const screens = async () => (await health())?.kiosk?.screens;
    await expect.poll(screens, patience).toMatchObject([{ state: 'playing', slide: 'hello' }]);
    // Its own ffmpeg: a release has it, a checkout may lack it, and then everything else works.
    if (given !== undefined || hasFfmpeg) expect(await health()).toMatchObject({ ffmpeg: { source: 'ffmpeg-static' } });
    else {
      const warnings = expect.arrayContaining([expect.stringContaining('sudo apt install ffmpeg')]);
      expect(await health()).toMatchObject({ ffmpeg: null, warnings });
    }
    const log = readFileSync(join(dataDir, 'logs', 'signage.log'), 'utf8');
    expect(log).toContain('content is live');
    if (given === undefined) expect(log).not.toMatch(/no public key|"level":[56]0/);
    child.kill('SIGTERM');
    const [code] = await ended;
    // Windows has no SIGTERM: Node ends the process there.
    if (process.platform !== 'win32') expect(code).toBe(0);
  });
});

/** The files of the app's own pages in the archive, without their folder. */
const ownPages = (): string[] =>
  listPackage(join(app.resources, 'app.asar'), { isPack: false }).flatMap((path) => {
    const [, name] = /^[\\/]dist[\\/]main[\\/]pages[\\/](.+)$/.exec(path) ?? [];
    return name ?? [];
  });

/** Whether a page has all of its style sheets, its script and its fonts. */
const isWhole = (page: Page): Promise<boolean> =>
  page.evaluate(async () => {
    const fonts = await Promise.all([...document.fonts].map((font) => font.load().then(() => true)));
    const sheets = [...document.styleSheets].map(({ cssRules }) => cssRules.length > 0);
    return sheets.length > 0 && fonts.length > 0 && sheets.every(Boolean);
  });

describe.skipIf(given !== undefined || isSkipped)("the packaged app's own pages", { timeout: 120_000 }, () => {
  itDouble('come whole from the archive, over what cannot start and over what plays', async () => {
    const kiosk = await startKiosk({
      app: app.extracted,
      content,
      config: { port: 'http' },
      env: { ...asPackaged(), SIGNAGE_PORT: '' },
    });
    const trouble = await kiosk.page(/trouble\.html\?kind=settings/);
    await trouble.getByRole('heading', { name: 'A setting needs correcting' }).waitFor();
    expect(await isWhole(trouble)).toBe(true);

    writeFileSync(join(kiosk.dataDir, 'config.json'), JSON.stringify({ port: 0 }));
    const landing = await kiosk.page(/\/\?deviceId=/);
    await landing.locator('#device').waitFor({ state: 'attached' });
    await kiosk.pressChord();
    const maintenance = await kiosk.page(/maintenance\.html/);
    await maintenance.getByRole('heading', { name: 'Choose a PIN' }).waitFor();
    expect(await isWhole(maintenance)).toBe(true);
    for (const key of ['2468', 'Enter', '2468', 'Enter']) {
      if (key === 'Enter') await maintenance.keyboard.press(key);
      else await maintenance.keyboard.type(key);
    }
    // An error is shown as its message, without its stack.
    const line = maintenance.locator('#log li', { hasText: 'the service could not be started' }).first();
    await line.waitFor();
    expect(await line.textContent()).toMatch(/"http" is not valid; expected an integer from 0 to 65535$/);
    expect(kiosk.pages().filter((page) => page.url().startsWith('file:'))).toEqual([]);
  });

  it('name no file that the archive lacks, and nothing loads a page by its path', () => {
    const files = ownPages();
    const texts = files
      .filter((name) => /\.(html|css)$/.test(name))
      .map((name) => readFileSync(join(app.extracted, 'dist', 'main', 'pages', name), 'utf8'));
    expect(files).toEqual(expect.arrayContaining(['maintenance.html', 'trouble.html']));
    const named = texts.flatMap((text) =>
      [...text.matchAll(/(?:src|href)="([^"#]+)"|url\("?([^")]+)"?\)/g)].map(
        ([, attribute, url]) => attribute ?? url ?? '',
      ),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.map((name) => name.replace(/^\.\//, '')).filter((name) => !files.includes(name))).toEqual([]);
    const main = readFileSync(join(app.extracted, 'dist', 'main', 'index.js'), 'utf8');
    expect(main).toContain('kiosk://pages');
    expect(main).not.toMatch(/[cC]ontents\.loadFile\(|[wW]indow\.loadFile\(|loadURL\(["'`]file:/);
  });
});
