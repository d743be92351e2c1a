import { expect, it } from 'vitest';
import { testsOf } from '../support/changed.ts';

it.each([
  ['service/feeds/schedule.ts', 'test/feeds/**/*.test.ts'],
  ['service/index.ts', 'test/{health,platform}/**/*.test.ts'],
  ['renderer/player/views.ts', 'test/player/**/*.test.ts'],
  ['renderer/kiosk/trouble.ts', 'test/kiosk/**/*.test.ts'],
  ['main/windows/displays.ts', 'test/kiosk/**/*.test.ts'],
  ['test/feeds/rss.test.ts', 'test/feeds/rss.test.ts'],
  ['test/feeds/server.ts', 'test/feeds/**/*.test.ts'],
])('a change of %s runs %s and the rules of the house', (file, pattern) => {
  expect(testsOf([file])).toEqual([pattern, 'test/house/**/*.test.ts']);
});

it('files of one folder run its tests once, and documents only the rules of the house', () => {
  expect(testsOf(['service/feeds/a.ts', 'service/feeds/b.ts', 'README.md'])).toEqual([
    'test/feeds/**/*.test.ts',
    'test/house/**/*.test.ts',
  ]);
});
