import { expect, test } from 'vitest';
import { selectLines } from '../../service/console/boxes.ts';
import { createLogRing } from '../../service/platform/log.ts';

const line = (level: number, msg: string): string =>
  `${JSON.stringify({ level, time: '2026-11-22T08:00:00.000Z', msg })}\n`;

test('the ring keeps the newest lines, by number and by size', () => {
  const ring = createLogRing(3, 20);
  for (const each of ['a', 'b', 'c', 'd']) ring.add(each);
  expect(ring.lines()).toEqual(['b', 'c', 'd']);
  ring.add('x'.repeat(18));
  expect(ring.lines()).toEqual(['c', 'd', 'x'.repeat(18)].slice(0));
  ring.add('y'.repeat(50));
  expect(ring.lines()).toEqual(['y'.repeat(50)]);
});

test('the newest lines of a level and above are chosen, oldest first', () => {
  const lines = [line(30, 'one'), line(20, 'two'), line(50, 'three'), line(40, 'four'), line(10, 'five')];
  const chosen = (level: 'trace' | 'debug' | 'info' | 'warn' | 'fatal', limit: number) =>
    selectLines(lines, { level, limit }).map(({ msg }) => msg);
  expect(chosen('info', 200)).toEqual(['one', 'three', 'four']);
  expect(chosen('info', 2)).toEqual(['three', 'four']);
  expect(chosen('trace', 200)).toEqual(['one', 'two', 'three', 'four', 'five']);
  expect(chosen('warn', 1)).toEqual(['four']);
  expect(chosen('fatal', 200)).toEqual([]);
});
