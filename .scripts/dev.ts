/** `npm run dev`: service and pages from their sources, built and restarted on every change. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { context } from 'esbuild';
import { build } from 'vite';
import { esbuildBundles, pagesConfig, root } from './bundles.ts';

await build({ configFile: pagesConfig, build: { watch: {} } });
for (const options of esbuildBundles) {
  const bundle = await context(options);
  await bundle.rebuild();
  await bundle.watch();
}
// Not headless.js: Node watches what is required.
spawn(process.execPath, ['--watch', join(root, 'dist', 'service', 'headless.cjs')], { stdio: 'inherit' }).on(
  'exit',
  (code) => process.exit(code ?? 1),
);
