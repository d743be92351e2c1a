import fc from 'fast-check';
import { expect, it } from 'vitest';
import { freshnessLifetime, idleLifetime, retryAfter } from '../../../service/media/copies/freshness.ts';
import { defaultTempo } from '../../../service/tempo.ts';

const at = Date.parse('2026-11-21T12:00:00Z');
const nothing = { cacheControl: null, etag: null, lastModified: null, size: 1000 };
const minutes = (count: number): number => count * 60_000;

it.each<[what: string, said: Partial<Parameters<typeof freshnessLifetime>[0]>, minutes: number]>([
  ['nothing, as a camera', {}, 1],
  ['nothing, of something large', { size: 10 ** 8 }, 360],
  ['an entity tag', { etag: '"a"' }, 60],
  ['an age', { lastModified: 'Fri, 20 Nov 2026 12:00:00 GMT' }, 144],
  ['a great age', { lastModified: 'Sat, 21 Nov 2015 12:00:00 GMT' }, 1440],
  ['a date to come', { lastModified: 'Sun, 22 Nov 2026 12:00:00 GMT', etag: '"a"' }, 60],
  ['a life', { cacheControl: 'public, max-age=600', etag: '"a"' }, 10],
  ['a long life', { cacheControl: 'max-age=31536000, immutable' }, 1440],
  ['a life of something large that can only be fetched whole', { cacheControl: 'max-age=5', size: 10 ** 8 }, 360],
  ['that nothing is certain', { cacheControl: 'no-cache', etag: '"a"', size: 10 ** 8 }, 1],
  ['that nothing may be stored', { cacheControl: 'No-Store' }, 1],
])('an origin that says %s', (_, said, expected) => {
  expect(freshnessLifetime({ ...nothing, ...said }, at)).toBe(minutes(expected));
});

it('a copy that is not shown is revalidated hourly at most, and not together with others', () => {
  expect([0, 1].map((chance) => idleLifetime(minutes(120), chance))).toEqual([minutes(120), minutes(150)]);
  expect([0, 1].map((chance) => idleLifetime(minutes(1), chance))).toEqual([minutes(60), minutes(75)]);
});

const tempo = defaultTempo.media;
const passing = { lasting: false, pause: 0 };
const lasting = { lasting: true, pause: 0 };

it('failures are retried with growing delays, within bounds', () => {
  expect([1, 2, 3, 20].map((failures) => retryAfter(failures, passing, tempo, 1))).toEqual([
    15_000,
    30_000,
    60_000,
    minutes(15),
  ]);
  expect([1, 2, 20].map((failures) => retryAfter(failures, lasting, tempo, 1))).toEqual([30, 60, 360].map(minutes));
  expect([10, 10_000].map((pause) => retryAfter(1, { lasting: false, pause: minutes(pause) }, tempo, 1))).toEqual(
    [10, 1440].map(minutes),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.boolean(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (n, isLasting, chance) => {
        const wait = retryAfter(n, isLasting ? lasting : passing, tempo, chance);
        expect(wait).toBeGreaterThanOrEqual(7500);
        expect(wait).toBeLessThanOrEqual(minutes(360));
      },
    ),
  );
});
