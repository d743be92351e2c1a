import fc from 'fast-check';
import { expect, it } from 'vitest';
import { waitAfter } from '../../service/feeds/source.ts';
import { defaultTempo } from '../../service/tempo.ts';

const wait = (refreshSeconds: number, failures: number, pauseMs = 0, chance = 0): number =>
  waitAfter(defaultTempo.feeds, { refreshSeconds, failures, pauseMs }, chance) / 1000;

it.each([
  ['a good feed', wait(900, 0), 900],
  ['with the most jitter', wait(900, 0, 0, 1), 990],
  ['a feed that is to be asked all the time', wait(0.001, 0), 1],
  ['a first failure', wait(900, 1), 15],
  ['a second', wait(900, 2), 30],
  ['a fifth', wait(900, 5), 240],
  ['a hundredth', wait(900, 100), 900],
  ['a hundredth of a feed of each minute', wait(60, 100), 300],
  ['the first of a quick feed', wait(10, 1), 10],
  ['the fourth of a quick feed', wait(10, 4), 80],
  ['the hundredth of a daily feed', wait(86_400, 100), 900],
  ['a daily feed whose server asks for two hours', wait(86_400, 100, 7_200_000), 7_200],
  ['a server that asks for two minutes', wait(900, 1, 120_000), 120],
  ['a server that asks for a year', wait(900, 1, 3e10), 86_400],
])('%s: %d s', (_, seconds, expected) => {
  expect(seconds).toBeCloseTo(expected);
});

it('after a failure asks at most four times a minute, and in the long run at least every 15 minutes or so', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 31_536_000 }),
      fc.nat(1e6),
      fc.double({ min: 0, max: 0.99, noNaN: true }),
      (refresh, failures, chance) => {
        const seconds = wait(refresh, failures, 0, chance);
        expect(seconds).toBeGreaterThanOrEqual(Math.min(refresh, 15));
        expect(seconds).toBeLessThanOrEqual((failures === 0 ? refresh : 900) * 1.1);
      },
    ),
  );
});
