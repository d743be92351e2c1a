/** Builds what is missing or stale: `service/` and `main/` by esbuild, `renderer/` by vite, all into `dist/`. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import { build as buildPages } from 'vite';
import { shells } from '../service/cli/shells.ts';
import { esbuildBundles, pagesConfig, root } from './bundles.ts';
import { declareTexts } from './languages.ts';

const stamp = join(root, 'dist', '.stamp');

/** What goes into the build. */
const sources = [
  'service',
  'main',
  'renderer',
  'resources/designs',
  'resources/openapi.yaml',
  'package.json',
  'package-lock.json',
  '.scripts',
];

const newestIn = (path: string): number => {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestIn(join(path, name))), mtimeMs);
};

const isFresh = (): boolean =>
  existsSync(stamp) && sources.every((source) => newestIn(join(root, source)) <= statSync(stamp).mtimeMs);

/** The completions of the command line, installed by the deb in the shells' completion folders. */
const writeCompletions = (): void => {
  const folder = join(root, 'dist', 'cli', 'completions');
  mkdirSync(folder, { recursive: true });
  for (const [name, { script }] of Object.entries(shells)) writeFileSync(join(folder, `signage.${name}`), script);
};

const WARM_MS = 20_000;

/** Starts and stops the service once, which writes V8's code cache next to the bundle, for faster starts. */
const warmUp = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signage-build-'));
  const child = spawn(process.execPath, [join(root, 'dist', 'service', 'headless.js')], {
    env: {
      PATH: process.env.PATH,
      SIGNAGE_DATA_DIR: dataDir,
      SIGNAGE_HOST: '127.0.0.1',
      SIGNAGE_PORT: '0',
      SIGNAGE_DISCOVERY: 'off',
      SIGNAGE_LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: WARM_MS,
  });
  child.stdout.once('data', () => child.kill('SIGTERM'));
  await new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  rmSync(dataDir, { recursive: true, force: true });
};

const buildAll = async (): Promise<void> => {
  declareTexts();
  const startedAt = new Date();
  // The names of shared parts change with what is in them.
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  await Promise.all([...esbuildBundles.map((options) => bundle(options)), buildPages({ configFile: pagesConfig })]);
  writeCompletions();
  await warmUp();
  writeFileSync(stamp, '');
  // What changed while it was being built is stale.
  utimesSync(stamp, startedAt, startedAt);
};

if (process.argv.includes('--force') || !isFresh()) await buildAll();
