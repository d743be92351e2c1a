/** What is in the bundle that a start has to read. */
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { nodeBundle } from '../../.scripts/bundles.ts';

/** With what it takes in: one build for all. */
const built = build({ ...nodeBundle, write: false, metafile: true, logLevel: 'error' });

test('the tables of media types are bundled once, as they are read, no decoder of old encodings, and one Temporal for all runtimes', async () => {
  const { metafile } = await built;
  const files = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.keys(inputs));
  expect(files.filter((file) => /mime-db/.test(file))).toEqual([]);
  expect(files.filter((file) => /mime-types\/index\.js$/.test(file))).toHaveLength(1);
  expect(files.filter((file) => file.includes('iconv-lite'))).toEqual([]);
  // The index of the package takes that of the runtime where there is one.
  const temporal = files.filter((file) => /temporal-polyfill\/\w+\.js$/.test(file));
  expect(temporal).toEqual([expect.stringMatching(/implementation\.js$/)]);
});

test('the clients of MQTT and of a fleet are loaded only where they are set', async () => {
  const outputs = (await built).metafile?.outputs ?? {};
  /** What is read at the start: imports that are not for later. */
  const closure = new Set<string>();
  const add = (path: string): void => {
    if (closure.has(path)) return;
    closure.add(path);
    for (const { path: next, kind } of outputs[path]?.imports ?? []) {
      if (kind !== 'dynamic-import' && outputs[next] !== undefined) add(next);
    }
  };
  const entries = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === 'main/index.ts');
  expect(entries).toHaveLength(1);
  for (const path of entries) add(path);
  const isClient = (file: string): boolean => /node_modules\/(?:mqtt|@nats-io)\//.test(file);
  const filesOf = (paths: Iterable<string>) => [...paths].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
  expect(filesOf(Object.keys(outputs)).filter(isClient).length).toBeGreaterThan(1);
  expect(filesOf(closure).filter(isClient)).toEqual([]);
});
