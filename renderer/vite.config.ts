import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { parse } from 'yaml';
import { evaluatedModule } from '../.scripts/bundle/evaluated.ts';
import { languagesForVite } from '../.scripts/languages.ts';

const page = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * That of the newest commit, so that a checkout gives the same bytes at any time; where it is unknown, now.
 * @returns as ISO 8601
 */
const builtAt = (): string => {
  const committed = Number(
    spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: page('..'), encoding: 'utf8' }).stdout,
  );
  return new Date(committed ? committed * 1000 : Date.now()).toISOString();
};

/** The build time of the pages: a clock that is earlier is wrong. */
const built: Plugin = {
  name: 'built',
  transformIndexHtml: () => [{ tag: 'meta', attrs: { name: 'built', content: builtAt() }, injectTo: 'head' }],
};

/**
 * The player paints nothing before its script has run: the greeting continues from the previous page without a blank
 * frame.
 */
const painted: Plugin = {
  name: 'painted',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { path }) =>
      path.includes('player') ? html.replace('<script type="module"', '$& blocking="render"') : html,
  },
};

/** What pdf.js loads on its own: character maps, the fonts that every reader has, decoders of pictures. */
const pdfParts: Plugin = {
  name: 'pdf-parts',
  generateBundle() {
    const packageFile = createRequire(import.meta.url).resolve('pdfjs-dist/package.json');
    const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
    for (const folder of ['cmaps', 'standard_fonts', 'wasm']) {
      const path = join(dirname(packageFile), folder);
      for (const name of readdirSync(path).filter((each) => !/\.wasm$|^quickjs/.test(each))) {
        const fileName = `assets/pdf-${version}/${folder}/${name}`;
        this.emitFile({ type: 'asset', fileName, source: readFileSync(join(path, name)) });
      }
    }
  },
};

/** Values that derive from schemas are written into the pages, which need not load zod for them. */
const evaluated: Plugin = { name: 'evaluated', load: evaluatedModule };

/** The API documents as an object: JSON is a quarter smaller than YAML, and read by the browser itself. */
const apiDocument: Plugin = {
  name: 'api-document',
  resolveId: (id) => (id === 'virtual:api-document' ? id : null),
  load: (id) => {
    if (id !== 'virtual:api-document') return null;
    const value: unknown = parse(readFileSync(page('../resources/openapi.yaml'), 'utf8'));
    return `export const apiDocument = JSON.parse(${JSON.stringify(JSON.stringify(value))});`;
  },
};

export default defineConfig({
  plugins: [languagesForVite, apiDocument, built, painted, pdfParts, evaluated],
  root: page('.'),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  logLevel: 'warn',
  build: {
    outDir: page('../dist/renderer'),
    emptyOutDir: true,
    // Electron and the browsers of the last four years.
    target: 'es2022',
    modulePreload: false,
    // hls.js is large, and loaded only by a page that shows a stream.
    chunkSizeWarningLimit: 700,
    rollupOptions: {
      input: {
        player: page('player/index.html'),
        landing: page('onboarding/landing.html'),
        form: page('onboarding/form.html'),
        missing: page('onboarding/missing.html'),
        trust: page('onboarding/trust.html'),
        console: page('console/index.html'),
        docs: page('docs/index.html'),
        preview: page('console/preview/index.html'),
      },
    },
  },
});
