/** Where a page loads itself anew. */
import { expect, test } from 'vitest';
import { mustRenew } from '../../renderer/player/renewal.ts';

test.each<[string, Parameters<typeof mustRenew>[0], boolean]>([
  ['the version that served it', { served: '1.0.0', answering: '1.0.0', tried: [] }, false],
  ['another version', { served: '1.0.0', answering: '1.1.0', tried: [] }, true],
  ['an older version', { served: '1.1.0', answering: '1.0.0', tried: ['1.1.0'] }, true],
  ['another version, which it has tried', { served: '1.0.0', answering: '1.1.0', tried: ['1.1.0', '1.0.0'] }, false],
  ['a service that does not tell', { served: '1.0.0', answering: null, tried: [] }, false],
])('a page that talks to %s', (_, moment, expected) => {
  expect(mustRenew(moment)).toBe(expected);
});
