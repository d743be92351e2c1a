/** What is bundled, from where to where. */
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';

export const root = join(import.meta.dirname, '..');

/** The pages, by vite. */
export const pagesConfig = join(root, 'renderer', 'vite.config.ts');

/**
 * The service and the kiosk, by esbuild, with the libraries inside: a process that reads two files is listening sooner
 * than one that reads eight hundred, and a package needs no node_modules.
 */
export const nodeBundle: BuildOptions = {
  absWorkingDir: root,
  entryPoints: { 'service/headless': 'service/headless.ts', 'main/index': 'main/index.ts' },
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  splitting: true,
  chunkNames: 'shared/[name]-[hash]',
  // `debug` takes colours where some other library brought them along, which only a development tool did.
  external: ['electron', 'supports-color'],
  // Libraries that are CommonJS ask for Node's own modules by `require`.
  banner: {
    js: "import { createRequire as createBundleRequire } from 'node:module';\nconst require = createBundleRequire(import.meta.url);",
  },
  sourcemap: 'linked',
};
