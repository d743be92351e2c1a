/** Which copy of a library is bundled, where npm installs several or a part of one is never used. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * npm nests `mime-types` and its table once in each of four libraries, and a start reads them all. Their copies are the
 * same, or older; the newest takes the place of all.
 */
const ofKoa = createRequire(createRequire(import.meta.url).resolve('koa'));

/** For esbuild's `alias`. */
export const libraryAliases: Readonly<Record<string, string>> = {
  'mime-db': dirname(ofKoa.resolve('mime-db')),
  'mime-types': dirname(ofKoa.resolve('mime-types')),
  // raw-body decodes text by it, and is only asked for bytes here. With its tables it is the second largest library.
  'iconv-lite': join(import.meta.dirname, 'no-iconv.cjs'),
};
