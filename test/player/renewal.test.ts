/** Where a page loads itself anew. */
import { expect, test } from 'vitest';
import { renewalFor } from '../../renderer/player/renewal.ts';

const HOUR = 3_600_000;
const time = 10 * HOUR;
const at = (version: string, ago: number) => ({ version, at: time - ago });
const incomplete = { served: '1.0.0', answering: '1.0.0', isIncomplete: true };

test.each<[string, Omit<Parameters<typeof renewalFor>[0], 'time' | 'isIncomplete'>, string | null]>([
  ['the version that served it', { served: '1.0.0', answering: '1.0.0', tried: [] }, null],
  ['another version', { served: '1.0.0', answering: '1.1.0', tried: [] }, '1.1.0'],
  ['an older version', { served: '1.1.0', answering: '1.0.0', tried: [at('1.1.0', 0)] }, '1.0.0'],
  [
    'another version, which it has tried',
    { served: '1.0.0', answering: '1.1.0', tried: [at('1.1.0', HOUR - 1), at('1.0.0', 0)] },
    null,
  ],
  [
    'a version that it has tried an hour ago',
    { served: '1.0.0', answering: '1.1.0', tried: [at('1.1.0', HOUR), at('1.0.0', 0)] },
    '1.1.0',
  ],
  [
    'a version that it has tried before the clock was set back',
    { served: '1.0.0', answering: '1.1.0', tried: [at('1.1.0', -HOUR)] },
    '1.1.0',
  ],
  ['a service that does not tell', { served: '1.0.0', answering: null, tried: [] }, null],
])('a page that talks to %s', (_, moment, expected) => {
  expect(renewalFor({ isIncomplete: false, time, ...moment })).toBe(expected);
});

test.each<[string, Omit<Parameters<typeof renewalFor>[0], 'time'>, string | null]>([
  ['reloads', { ...incomplete, tried: [at('1.0.0', 0)] }, 'incomplete'],
  ['does not reload again and again', { ...incomplete, tried: [at('incomplete', 24 * HOUR - 1)] }, null],
  ['reloads once a day', { ...incomplete, tried: [at('incomplete', 24 * HOUR)] }, 'incomplete'],
  ['reloads for another version first', { ...incomplete, answering: '1.1.0', tried: [] }, '1.1.0'],
  [
    'reloads though it has tried another version',
    { ...incomplete, answering: '1.1.0', tried: [at('1.1.0', 0)] },
    'incomplete',
  ],
])('a page of which a part is missing %s', (_, moment, expected) => {
  expect(renewalFor({ ...moment, time })).toBe(expected);
});
