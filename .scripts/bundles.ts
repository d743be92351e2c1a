/** What is bundled, from where to where. */
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { libraryAliases, libraryParts } from './bundle/libraries.ts';
import { languagesForEsbuild } from './languages.ts';

export const root = join(import.meta.dirname, '..');

/** The pages, by vite. */
export const pagesConfig = join(root, 'renderer', 'vite.config.ts');

const shared = { absWorkingDir: root, outdir: 'dist', bundle: true } satisfies BuildOptions;

/** Libraries that are CommonJS ask for Node's own modules by `require`. */
const requireBanner = {
  js: "import { createRequire as createBundleRequire } from 'node:module';\nconst require = createBundleRequire(import.meta.url);",
};

/**
 * The kiosk with the service, by esbuild, with the libraries inside: a process that reads two files is listening sooner
 * than one that reads eight hundred, and a package needs no node_modules. `headless.js` starts `headless.cjs`.
 */
export const nodeBundle: BuildOptions = {
  ...shared,
  entryPoints: { 'service/headless': 'service/launch.ts', 'main/index': 'main/index.ts' },
  platform: 'node',
  target: 'node20',
  format: 'esm',
  splitting: true,
  chunkNames: 'shared/[name]-[hash]',
  external: ['electron'],
  alias: libraryAliases,
  plugins: [libraryParts],
  banner: requireBanner,
  sourcemap: 'linked',
};

/** The service without a window: one CommonJS file, because V8 gives out the compiled code of scripts, not of modules. */
const headlessBundle: BuildOptions = {
  ...shared,
  entryPoints: { 'service/headless': 'service/headless.ts' },
  outExtension: { '.js': '.cjs' },
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  alias: libraryAliases,
  plugins: [libraryParts],
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  // `import()` of a script would need an experimental option of Node.
  supported: { 'dynamic-import': false },
  sourcemap: 'linked',
};

/**
 * The command line: one file, which the deb runs outside of the archive on Debian's own Node. What a command alone needs
 * is evaluated when it is imported.
 */
const commandLineBundle: BuildOptions = {
  ...shared,
  entryPoints: { 'cli/index': 'service/cli/index.ts' },
  platform: 'node',
  // Debian 12's.
  target: 'node18',
  format: 'esm',
  plugins: [libraryParts],
  banner: requireBanner,
};

/** What threads are given as text, and a program of its own: one CommonJS file each, with nothing outside of it. */
const threadsBundle: BuildOptions = {
  ...shared,
  entryPoints: {
    'service/calendars-thread': 'service/feeds/calendar-thread.ts',
    'service/feeds-thread': 'service/feeds/thread.ts',
    'service/templates-thread': 'service/content/thread.ts',
    'service/heif': 'service/media/renditions/heif-process.ts',
  },
  outExtension: { '.js': '.cjs' },
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  // They are libraries for the most part.
  minifyWhitespace: true,
};

/** A sandboxed preload script must be one CommonJS file. */
const preloadBundle: BuildOptions = {
  ...shared,
  entryPoints: {
    'main/preload/player': 'main/preload/player.ts',
    'main/preload/maintenance': 'main/preload/maintenance.ts',
  },
  outExtension: { '.js': '.cjs' },
  platform: 'node',
  target: 'chrome140',
  format: 'cjs',
  external: ['electron'],
};

/** The kiosk's own pages, loaded as files, where Chromium takes no modules: one plain script and style sheet each. */
const localPagesBundle: BuildOptions = {
  ...shared,
  entryPoints: [
    'trouble.ts',
    'trouble.html',
    'maintenance.ts',
    'maintenance.html',
    'identify.ts',
    'identify.html',
    'network.ts',
    'network.html',
    'black.html',
  ].map((file) => ({
    in: `renderer/kiosk/${file}`,
    out: `main/pages/${file.replace(/\.\w+$/, '')}`,
  })),
  assetNames: 'main/pages/[name]',
  loader: { '.html': 'copy', '.woff2': 'file' },
  format: 'iife',
  target: 'chrome140',
  plugins: [languagesForEsbuild],
};

export const esbuildBundles: readonly BuildOptions[] = [
  nodeBundle,
  headlessBundle,
  commandLineBundle,
  threadsBundle,
  preloadBundle,
  localPagesBundle,
];
