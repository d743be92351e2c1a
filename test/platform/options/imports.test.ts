/** What the headless service is made of: no Electron, no page. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

test('nothing that headless imports is Electron, or belongs to the kiosk or the pages', async () => {
  const { metafile } = await build({
    absWorkingDir: join(import.meta.dirname, '..', '..', '..'),
    entryPoints: ['service/headless.ts'],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outdir: 'dist',
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.filter((path) => !/^(service\/|package\.json$)/.test(path))).toEqual([]);
  expect(inputs.length).toBeGreaterThan(30);
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  expect(imported).toContain('koa');
  expect(imported.filter((path) => /electron/.test(path))).toEqual([]);
});
