/** The scripts of this checkout as plain JavaScript, bundled once in each process: tsx costs half a second a start. */
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll } from 'vitest';
import { temporaryFolder } from './service.ts';

/**
 * @param path of the script, absolute
 * @param place where it believes to be; absent: where it is
 * @returns the path of what Node can start
 */
export const plainScript = (path: string, place = path): string => {
  const outfile = join(temporaryFolder(afterAll), 'script.mjs');
  buildSync({
    entryPoints: [path],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    define: {
      'import.meta.dirname': JSON.stringify(dirname(place)),
      'import.meta.url': JSON.stringify(pathToFileURL(place).href),
    },
  });
  return outfile;
};
