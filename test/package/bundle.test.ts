/** What is in the bundle that a start has to read. */
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { nodeBundle } from '../../.scripts/bundles.ts';

test('the tables of media types are bundled once, as they are read, no decoder of old encodings, and one Temporal for all runtimes', async () => {
  const { metafile } = await build({ ...nodeBundle, write: false, metafile: true, logLevel: 'error' });
  const files = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.keys(inputs));
  expect(files.filter((file) => /mime-db/.test(file))).toEqual([]);
  expect(files.filter((file) => /mime-types\/index\.js$/.test(file))).toHaveLength(1);
  expect(files.filter((file) => file.includes('iconv-lite'))).toEqual([]);
  // The index of the package takes that of the runtime where there is one.
  const temporal = files.filter((file) => /temporal-polyfill\/\w+\.js$/.test(file));
  expect(temporal).toEqual([expect.stringMatching(/implementation\.js$/)]);
});
