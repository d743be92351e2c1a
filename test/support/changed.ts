/** Which tests `--changed` runs: those of the folders that have changed since the last commit. */
import { execFileSync } from 'node:child_process';

/**
 * Tests mirror the folders of the source; where they do not, this says which they are. The first that fits counts: it
 * matches the whole path, which the patterns replace.
 */
const table: readonly [source: RegExp, tests: string][] = [
  [/^test\/.*\.test\.ts$/, '$&'],
  [/^(?:service|test)\/([^/]+)\/.*/, 'test/$1/**/*.test.ts'],
  [/^renderer\/(player|console)\/.*/, 'test/$1/**/*.test.ts'],
  [/^renderer\/onboarding\/.*/, 'test/{devices,pages}/**/*.test.ts'],
  [/^renderer\/shared\/.*/, 'test/{console,pages}/**/*.test.ts'],
  [/^(?:main|renderer\/kiosk)\/.*/, 'test/kiosk/**/*.test.ts'],
  [/^service\/.*/, 'test/{health,platform}/**/*.test.ts'],
];

/** The patterns of the tests for some changed files; the rules of the house are always among them. */
export const testsOf = (files: readonly string[]): string[] => {
  const patterns = files.flatMap((file) => {
    const found = table.find(([source]) => source.test(file));
    return found === undefined ? [] : [file.replace(...found)];
  });
  return [...new Set([...patterns, 'test/house/**/*.test.ts'])];
};

/** Files that differ from the last commit, and new ones, from the root of the repository. */
export const changedFiles = (root: string): string[] => {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  return [
    ...git('diff', '--name-only', '--diff-filter=d', 'HEAD'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
};
