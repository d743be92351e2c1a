import fc from 'fast-check';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createRate } from '../../service/domain/rate.ts';
import { createSourceLogs } from '../../service/platform/source-log.ts';

const start = (level = 'info') => {
  let now = 0;
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const logs = createSourceLogs(pino({ level }, { write }), () => now);
  return { logs, lines, pass: (ms: number) => (now += ms) };
};

test('a source writes 20 lines a minute, and the next one counts those that were left out', () => {
  const { logs, lines, pass } = start();
  for (let count = 0; count < 50; count += 1) logs('feed a').warn({ count }, 'a line');
  expect(lines.map(({ count }) => count)).toEqual(Array.from({ length: 20 }, (_, count) => count));
  pass(59_999);
  logs('feed a').warn({}, 'still too early');
  expect(lines).toHaveLength(20);
  pass(1);
  logs('feed a').warn({}, 'the next');
  logs('feed a').warn({}, 'the one after it');
  expect(lines.slice(20).map(({ msg, leftOut }) => [msg, leftOut])).toEqual([
    ['the next', 31],
    ['the one after it', undefined],
  ]);
});

test('a source takes no lines from another', () => {
  const { logs, lines } = start();
  for (let count = 0; count < 50; count += 1) logs('feed a', { feed: 'a' }).warn({}, 'a line');
  logs('feed b', { feed: 'b' }).warn({ reason: 'x' }, 'a line');
  expect(lines.at(-1)).toMatchObject({ feed: 'b', reason: 'x' });
});

test('lines below the level of the log cost nothing', () => {
  const { logs, lines } = start();
  for (let count = 0; count < 50; count += 1) logs('feed a').debug({}, 'not written');
  logs('feed a').info({}, 'written');
  expect(lines.map(({ msg, leftOut }) => [msg, leftOut])).toEqual([['written', undefined]]);
});

test('a rate lets through its limit in any window, and everything that keeps to it', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 }), (gaps) => {
      const rate = createRate(5, 100);
      let now = 0;
      const taken: number[] = [];
      for (const gap of gaps) {
        now += gap;
        const recent = taken.filter((time) => now - time < 100).length;
        expect(rate.take(now)).toBe(recent < 5);
        if (recent < 5) taken.push(now);
      }
    }),
  );
});
