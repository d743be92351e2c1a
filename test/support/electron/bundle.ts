/** The mock of Electron as plain JavaScript, bundled once in each process that starts it: tsx costs a second a start. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

let folder: string | undefined;

/** The arguments of Node that make the mock what `electron` means to an app. */
export const doubleArguments = (): string[] => {
  if (folder === undefined) {
    folder = mkdtempSync(join(tmpdir(), 'signage-double-'));
    buildSync({
      entryPoints: ['register', 'index'].map((name) => join(import.meta.dirname, `${name}.ts`)),
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      // ws asks for modules of Node by `require`.
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
    const made = folder;
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  }
  return ['--import', join(folder, 'register.mjs')];
};
