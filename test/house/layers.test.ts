import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const root = join(import.meta.dirname, '..', '..');
const { forbidden, options } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  forbidden: object[];
  options: object;
};

const judge = async (baseDir: string): Promise<ICruiseResult> => {
  const { output } = await cruise(['main', 'renderer', 'service'], {
    ...options,
    validate: true,
    ruleSet: { forbidden },
    baseDir,
  } as object);
  return output as ICruiseResult;
};

it('the layers hold, and the tool that says so has read the house', walk, async () => {
  const { summary, modules } = await judge(root);
  expect(summary.violations).toEqual([]);
  expect(modules.filter(({ source }) => /^(main|renderer|service)\//.test(source)).length).toBeGreaterThan(60);
});

const house = {
  'service/media/index.ts': 'export const media = 1;',
  'service/media/file.ts': 'export const file = 1;',
  'service/health/index.ts': 'export const health = 1;',
  'service/index.ts': 'export const startService = 1;',
  'main/index.ts': 'export const boot = 1;',
  'service/platform/options/index.ts': 'export const readOptions = 1;',
  'renderer/player/timeline.ts': 'export const following = 1;',
};

it.each([
  ['nobody asks for anything', 'main', '', 0],
  ['the service asks for Electron', 'service', "import { app } from 'electron';\nexport const planted = app;\n", 1],
  ['the service asks for a page', 'service', "export { following } from '../renderer/player/timeline.ts';\n", 1],
  [
    'the command line asks for the service',
    'service/cli',
    "export { readOptions } from '../platform/options/index.ts';\n",
    1,
  ],
  [
    'a page asks for the service',
    'renderer',
    "export { readOptions } from '../service/platform/options/index.ts';\n",
    1,
  ],
  [
    'the kiosk asks for the service beside its seam',
    'main',
    "export { readOptions } from '../service/platform/options/index.ts';\n",
    1,
  ],
  ['a module enters another by its door: none', 'service/screens', "export { media } from '../media/index.ts';\n", 0],
  ['a module enters another beside its door', 'service/screens', "export { file } from '../media/file.ts';\n", 1],
  ['the entry point enters a module beside its door', 'service', "export { file } from './media/file.ts';\n", 1],
  ['a module asks for one above it', 'service/screens', "export { health } from '../health/index.ts';\n", 1],
  ['a library asks for a module', 'service/http', "export { media } from '../media/index.ts';\n", 1],
  ['a module asks for the entry point', 'service/screens', "export { startService } from '../index.ts';\n", 1],
])('violations are found: %s', async (_, folder, source, count) => {
  // Not in the house itself, which others may be reading.
  const base = temporaryFolder();
  for (const [path, text] of Object.entries({ ...house, [`${folder}/planted.ts`]: source })) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  expect((await judge(base)).summary.violations).toHaveLength(count);
});

it('violations are found: two files import each other, one of them a type alone', async () => {
  const base = temporaryFolder();
  const files = {
    ...house,
    'service/media/plan.ts': "import type { File } from './file.ts';\nexport const plan: File = 1;\n",
    'service/media/file.ts': "export { plan } from './plan.ts';\nexport type File = number;\n",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  const violations = (await judge(base)).summary.violations.filter(({ rule }) => rule.name === 'no-circles');
  expect(violations).toHaveLength(1);
});

it('violations are found: two folders import each other, though no two files do, and by types alone', async () => {
  const base = temporaryFolder();
  const files = {
    ...house,
    'service/content/edit.ts': "export { plan } from '../media/plan.ts';\n",
    'service/content/name.ts': 'export type Name = string;\n',
    'service/media/plan.ts': 'export const plan = 1;\n',
    'service/media/file.ts': "import type { Name } from '../content/name.ts';\nexport const file: Name = '';\n",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  const violations = (await judge(base)).summary.violations.filter(({ rule }) => rule.name === 'no-circles-of-modules');
  expect(new Set(violations.map(({ from }) => from))).toEqual(new Set(['service/content', 'service/media']));
});
