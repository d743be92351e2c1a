import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPages, nextTo, type Pages, spread } from '../../../renderer/player/slides/pages.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const open = (count: number, pageMs = 1_000): { pages: Pages; shown: number[] } => {
  const shown: number[] = [];
  const pages = createPages((index) => shown.push(index));
  pages.open(count, pageMs);
  return { pages, shown };
};

describe('the pages of a slide', () => {
  it('come one after the other, and the last stays', () => {
    const { pages, shown } = open(3);
    pages.start();
    expect(shown).toEqual([]);
    vi.advanceTimersByTime(999);
    expect(shown).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(shown).toEqual([1]);
    vi.advanceTimersByTime(60_000);
    expect(shown).toEqual([1, 2]);
  });

  it('may each be on for months', () => {
    const day = 86_400_000;
    const { pages, shown } = open(3, 100.5 * day);
    pages.start();
    vi.advanceTimersByTime(100 * day);
    expect(shown).toEqual([]);
    vi.advanceTimersByTime(day);
    expect(shown).toEqual([1]);
    vi.advanceTimersByTime(50 * day);
    pages.pause();
    vi.advanceTimersByTime(365 * day);
    pages.resume();
    vi.advanceTimersByTime(49 * day);
    expect(shown).toEqual([1]);
    vi.advanceTimersByTime(day);
    expect(shown).toEqual([1, 2]);
  });

  it('begin again', () => {
    const { pages, shown } = open(2);
    pages.start();
    vi.advanceTimersByTime(5_000);
    pages.start();
    vi.advanceTimersByTime(5_000);
    expect(shown).toEqual([1, 0, 1]);
  });

  it('stop in a pause, and go on with what was left', () => {
    const { pages, shown } = open(2);
    pages.start();
    vi.advanceTimersByTime(700);
    pages.pause();
    pages.pause();
    vi.advanceTimersByTime(60_000);
    expect([shown, pages.remainingMs()]).toEqual([[], 1_300]);
    pages.resume();
    vi.advanceTimersByTime(299);
    expect(shown).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(shown).toEqual([1]);
  });

  it('are turned, and each has its time from then on', () => {
    const { pages, shown } = open(3);
    pages.start();
    vi.advanceTimersByTime(900);
    expect(pages.flipPage(1)).toBe(true);
    expect(pages.remainingMs()).toBe(2_000);
    vi.advanceTimersByTime(1_000);
    expect(pages.flipPage(-1)).toBe(true);
    expect(pages.remainingMs()).toBe(2_000);
    vi.advanceTimersByTime(1_500);
    expect([shown, pages.remainingMs()]).toEqual([[1, 2, 1, 2], 500]);
  });

  it('are turned in a pause, too, and do not go on by themselves then', () => {
    const { pages, shown } = open(3);
    pages.start();
    pages.pause();
    pages.flipPage(1);
    vi.advanceTimersByTime(60_000);
    expect(shown).toEqual([1]);
    pages.resume();
    vi.advanceTimersByTime(1_000);
    expect(shown).toEqual([1, 2]);
  });

  it('are not turned beyond their ends', () => {
    const { pages, shown } = open(2);
    pages.start();
    expect(pages.flipPage(-1)).toBe(false);
    expect(pages.flipPage(1)).toBe(true);
    expect(pages.flipPage(1)).toBe(false);
    expect(open(1).pages.flipPage(1)).toBe(false);
    expect(shown).toEqual([1]);
  });

  it('stop permanently', () => {
    const { pages, shown } = open(2);
    pages.start();
    pages.close();
    vi.advanceTimersByTime(5_000);
    expect(shown).toEqual([]);
  });

  it.each([
    [null, 4, { count: 4, pageMs: 8_000, length: 32_000 }],
    [10, 4, { count: 4, pageMs: 2_500, length: 10_000 }],
    [10, 1, { count: 1, pageMs: 10_000, length: 10_000 }],
    [10, 500, { count: 5, pageMs: 2_000, length: 10_000 }],
    [0.5, 3, { count: 1, pageMs: 500, length: 500 }],
  ])('share %d s between %d', (duration_seconds, pages, expected) => {
    expect(spread({ duration_seconds }, pages, { usualMs: 8_000, leastMs: 2_000 })).toEqual(expected);
  });
});

it.each<[index: number, count: number, pages: number[]]>([
  [0, 1, [0]],
  [0, 2, [1]],
  [1, 2, [0, 0]],
  [0, 4, [1]],
  [2, 4, [3, 1]],
  // A slide that is alone begins again.
  [3, 4, [0, 2]],
])('after page %d of %d the next can be %j', (index, count, pages) => {
  expect(nextTo(index, count)).toEqual(pages);
});
