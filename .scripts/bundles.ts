/** What is bundled, from where to where. */
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';

export const root = join(import.meta.dirname, '..');

/** The pages, by vite. */
export const pagesConfig = join(root, 'renderer', 'vite.config.ts');

/** The service and the kiosk, by esbuild. */
export const nodeBundle: BuildOptions = {
  absWorkingDir: root,
  entryPoints: { 'service/headless': 'service/headless.ts', 'main/index': 'main/index.ts' },
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  sourcemap: 'linked',
};
