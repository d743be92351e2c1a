/** `npm run check` finds what nobody uses. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');

it('an unused file, dependency and export are found', async () => {
  const base = temporaryFolder();
  copyFileSync(join(root, '.knip.json'), join(base, '.knip.json'));
  mkdirSync(join(base, 'service'));
  const files = {
    'package.json': '{ "name": "planted", "type": "module", "dependencies": { "koa": "3.3.0" } }',
    'service/headless.ts': "import { used } from './file.ts';\nconsole.log(used);\n",
    'service/file.ts': 'export const used = 1;\nexport const unused = 2;\n',
    'service/orphan.ts': 'export const orphan = 1;\n',
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(base, path), text);
  const knip = join(root, 'node_modules', 'knip', 'bin', 'knip.js');
  const printed = await new Promise<string>((resolve) => {
    execFile(process.execPath, [knip, '--directory', base, '--reporter', 'json'], (_, stdout) => resolve(stdout));
  });
  const { issues } = JSON.parse(printed) as { issues: { file: string; [kind: string]: unknown }[] };
  const found = issues.map(({ file, files: unused, dependencies, exports }) => [
    file,
    ...[unused, dependencies, exports].flatMap((each) => (each as { name: string }[]).map(({ name }) => name)),
  ]);
  expect(found.toSorted()).toEqual([
    ['package.json', 'koa'],
    ['service/file.ts', 'unused'],
    ['service/orphan.ts', 'service/orphan.ts'],
  ]);
});
