/** Files are short enough to be read at once; the three that begin everything are shorter. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const MOST_LINES = 300;
const MOST_LINES_OF: Readonly<Record<string, number>> = {
  'main/index.ts': 119,
  'renderer/player/player.ts': 119,
  'service/index.ts': 119,
};

/** A table of words that translators read from top to bottom. */
const isTable = (path: string): boolean => path.startsWith('renderer/console/texts/');

const isTooLong = (path: string, source: string): boolean =>
  !isTable(path) && source.trimEnd().split('\n').length > (MOST_LINES_OF[path] ?? MOST_LINES);

it.each([
  ['service/media/library.ts', 300, false],
  ['service/media/library.ts', 301, true],
  ['renderer/console/texts/en.ts', 301, false],
  ['service/index.ts', 119, false],
  ['service/index.ts', 120, true],
])('a file that is too long is found: %s with %i lines', (path, lines, isFound) => {
  expect(isTooLong(path, 'one line\n'.repeat(lines))).toBe(isFound);
});

it('no file of main, service and renderer is too long', () => {
  const files = ['main', 'service', 'renderer'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => join(folder, path).replaceAll('\\', '/')),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(Object.keys(MOST_LINES_OF).filter((path) => !files.includes(path))).toEqual([]);
  expect(files.filter((path) => isTooLong(path, readFileSync(join(root, path), 'utf8')))).toEqual([]);
});
