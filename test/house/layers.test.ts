import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const { forbidden, options } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  forbidden: object[];
  options: object;
};

const judge = async (folders: string[]): Promise<ICruiseResult> => {
  const { output } = await cruise(folders, {
    ...options,
    validate: true,
    ruleSet: { forbidden },
    baseDir: root,
  } as object);
  return output as ICruiseResult;
};

it('the layers hold, and the tool that says so has read the house', async () => {
  const { summary, modules } = await judge(['main', 'renderer', 'service']);
  expect(summary.violations).toEqual([]);
  expect(modules.filter(({ source }) => /^(main|renderer|service)\//.test(source)).length).toBeGreaterThan(60);
});

it.each([
  ['the service asks for Electron', 'service', "import { app } from 'electron';\nexport const planted = app;\n"],
  ['the service asks for a page', 'service', "export { following } from '../../renderer/player/timeline.ts';\n"],
  ['a page asks for the service', 'renderer', "export { readOptions } from '../../service/options.ts';\n"],
  [
    'the kiosk asks for the service beside its seam',
    'main',
    "export { readOptions } from '../../service/options.ts';\n",
  ],
])('a violation is found: %s', async (_, room, source) => {
  const folder = join(root, room, `.planted-${process.pid}`);
  mkdirSync(folder);
  try {
    writeFileSync(join(folder, 'violation.ts'), source);
    const { summary } = await judge([join(room, `.planted-${process.pid}`)]);
    expect(summary.violations.length).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
