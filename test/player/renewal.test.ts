/** Where a page loads itself anew. */
import { expect, test } from 'vitest';
import { mustRenew } from '../../renderer/player/renewal.ts';

const HOUR = 3_600_000;
const time = 10 * HOUR;
const at = (version: string, ago: number) => ({ version, at: time - ago });

test.each<[string, Omit<Parameters<typeof mustRenew>[0], 'time'>, boolean]>([
  ['the version that served it', { served: '1.0.0', answering: '1.0.0', tried: [] }, false],
  ['another version', { served: '1.0.0', answering: '1.1.0', tried: [] }, true],
  ['an older version', { served: '1.1.0', answering: '1.0.0', tried: [at('1.1.0', 0)] }, true],
  [
    'another version, which it has tried',
    { served: '1.0.0', answering: '1.1.0', tried: [at('1.1.0', HOUR - 1), at('1.0.0', 0)] },
    false,
  ],
  [
    'a version that it has tried an hour ago',
    { served: '1.0.0', answering: '1.1.0', tried: [at('1.1.0', HOUR), at('1.0.0', 0)] },
    true,
  ],
  [
    'a version that it has tried before the clock was set back',
    { served: '1.0.0', answering: '1.1.0', tried: [at('1.1.0', -HOUR)] },
    true,
  ],
  ['a service that does not tell', { served: '1.0.0', answering: null, tried: [] }, false],
])('a page that talks to %s', (_, moment, expected) => {
  expect(mustRenew({ ...moment, time })).toBe(expected);
});
