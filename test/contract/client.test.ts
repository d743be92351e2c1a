/**
 * A client that a generator makes from the OpenAPI document compiles under stricter options than those of the package, which
 * `client-package.test.ts` compiles, and calls.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateApi } from '../../.scripts/client.ts';
import { temporaryFolder } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';

const root = join(import.meta.dirname, '..', '..');

/** Without `exactOptionalPropertyTypes`, which the generator's own runtime does not meet. */
const strictly = {
  compilerOptions: {
    ...{ target: 'ES2023', module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2023', 'DOM', 'DOM.Iterable'] },
    ...{ types: [], strict: true, noUncheckedIndexedAccess: true, noImplicitOverride: true, isolatedModules: true },
    ...{ noFallthroughCasesInSwitch: true, verbatimModuleSyntax: true, skipLibCheck: false, noEmit: true },
  },
  include: ['client'],
};

const compile = (folder: string): string => {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(strictly));
  try {
    return execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder], {
      encoding: 'utf8',
    });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
};

test.skipIf(!isSoak)('a generated client compiles under strict options', async () => {
  const folder = temporaryFolder();
  await generateApi(join(folder, 'client'));
  expect(existsSync(join(folder, 'client', 'sdk.gen.ts'))).toBe(true);
  expect(compile(folder)).toBe('');
});
