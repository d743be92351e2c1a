/** Builds what is missing or stale: `service/` and `main/` by esbuild, `renderer/` by vite, all into `dist/`. */

import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import { build as buildPages } from 'vite';
import { esbuildBundles, pagesConfig, root } from './bundles.ts';

const stamp = join(root, 'dist', '.stamp');

/** What goes into the build. */
const sources = ['service', 'main', 'renderer', 'package.json', 'package-lock.json', '.scripts'];

const newestIn = (path: string): number => {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestIn(join(path, name))), mtimeMs);
};

const isFresh = (): boolean =>
  existsSync(stamp) && sources.every((source) => newestIn(join(root, source)) <= statSync(stamp).mtimeMs);

const buildAll = async (): Promise<void> => {
  const startedAt = new Date();
  // The names of shared parts change with what is in them.
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  await Promise.all([...esbuildBundles.map((options) => bundle(options)), buildPages({ configFile: pagesConfig })]);
  writeFileSync(stamp, '');
  // What changed while it was being built is stale.
  utimesSync(stamp, startedAt, startedAt);
};

if (process.argv.includes('--force') || !isFresh()) await buildAll();
