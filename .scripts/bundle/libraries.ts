/** Bundles one copy of each library, without the parts that a start would evaluate for nothing. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';
import { evaluatedModule } from './evaluated.ts';
import { withLazySchemas } from './schemas.ts';

/**
 * npm nests `mime-types` and its table once in each of four libraries, and a start reads them all. Their copies are the
 * same, or older; the newest replaces all.
 */
const ofKoa = createRequire(createRequire(import.meta.url).resolve('koa'));

/** For esbuild's `alias`. */
export const libraryAliases: Readonly<Record<string, string>> = {
  'mime-db': dirname(ofKoa.resolve('mime-db')),
  'mime-types': dirname(ofKoa.resolve('mime-types')),
  // raw-body uses it to decode text, but is only used for bytes here. With its tables it is the second largest library.
  'iconv-lite': join(import.meta.dirname, 'no-iconv.cjs'),
  // The client of MQTT has a copy of Node's own streams, which is three times as large as the client.
  'readable-stream': 'node:stream',
  debug: join(import.meta.dirname, 'no-debug.cjs'),
  '@opentelemetry/api': join(import.meta.dirname, 'no-opentelemetry.cjs'),
};

interface MediaTypes {
  extensions: Record<string, string[]>;
  types: Record<string, string>;
}

/**
 * The tables that mime-types builds from mime-db at each start, built once, and the encodings that it reads from
 * mime-db.
 */
const tabulateMediaTypes = (path: string): string => {
  const { extensions, types } = ofKoa('mime-types') as MediaTypes;
  const all = Object.entries(ofKoa('mime-db') as Record<string, { charset?: string }>);
  const encodings = Object.fromEntries(all.flatMap(([type, { charset }]) => (charset ? [[type, { charset }]] : [])));
  const table = (value: object): string => `JSON.parse(${JSON.stringify(JSON.stringify(value))})`;
  const replacements = {
    "require('mime-db')": table(encodings),
    'populateMaps(exports.extensions, exports.types)': `Object.assign(exports.extensions, ${table(extensions)}); Object.assign(exports.types, ${table(types)})`,
  };
  return Object.entries(replacements).reduce(
    (source, [before, after]) => {
      if (!source.includes(before)) throw new Error(`${path} does not contain ${before}`);
      return source.replace(before, () => after);
    },
    readFileSync(path, 'utf8'),
  );
};

/** For esbuild's `plugins`. */
export const libraryParts: Plugin = {
  name: 'library-parts',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]mime-types[\\/]index\.js$/ }, ({ path }) => ({ contents: tabulateMediaTypes(path) }));
    onLoad({ filter: /[\\/]service[\\/].*\.ts$/ }, ({ path }) => {
      const source = evaluatedModule(path) ?? readFileSync(path, 'utf8');
      return { contents: source.includes(" from 'zod'") ? withLazySchemas(path, source) : source, loader: 'ts' };
    });
    // Messages are in English; zod includes sixty languages.
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};
