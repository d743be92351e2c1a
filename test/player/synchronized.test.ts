/** Players of a playlist in step: each decides for itself, and all come to the same. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Slide } from '../../service/contract/playlist.ts';
import { openScene, payloadOf, slide, wait } from './scene.ts';

const NOON = Date.parse('2026-07-01T12:00:00Z');
const slides = ['a', 'b', 'c'].map((id) => slide(id, { duration_seconds: 5 }));

beforeEach(() => vi.useFakeTimers({ now: NOON }));
afterEach(() => vi.useRealTimers());

/** The moments at which slides came on by the time of the site, without the first, which comes whenever it is ready. */
const swapsOf = ({ shown, times }: { shown: string[]; times: number[] }, ahead = 0) =>
  shown.map((name, index) => `${name} ${(times[index] ?? 0) + ahead}`).slice(1);

describe('a synchronized player', () => {
  it('two pages show the same at the same time, whenever they were opened', async () => {
    const first = openScene(slides, { isInStep: true });
    await wait(7.3);
    const second = openScene(slides, { isInStep: true });
    await wait(40);
    expect(first.shown.slice(0, 4)).toEqual(['a', 'b', 'c', 'a']);
    expect(swapsOf(first).slice(1)).toEqual(swapsOf(second));
    expect(swapsOf(second)[0]).toBe(`c ${NOON + 10_000}`);
    expect(Math.max(...[...first.skews, ...second.skews].map(Math.abs))).toBeLessThan(2);
    expect(second.skews).toHaveLength(second.shown.length - 1);
  });

  it('the time is that of the site, not of the page', async () => {
    const page = openScene(slides, { isInStep: true, ahead: 3_600_000 + 5_000 });
    await wait(12);
    expect(page.shown).toEqual(['b', 'c', 'a']);
    expect(swapsOf(page, 3_605_000)[0]).toBe(`c ${NOON + 3_610_000}`);
  });

  it('a slide gets its position in its slot', async () => {
    const page = openScene(slides, { isInStep: true });
    await wait(7);
    expect(page.paces.get('b')?.position(performance.now())).toBeCloseTo(2_000, 0);
    expect(openScene(slides).paces.get('a')).toBeNull();
  });

  it('a slide that can not be shown leaves its slot to the slide before it', async () => {
    const long = { duration_seconds: 20 };
    const page = openScene([slide('a', long), slide('broken', long), slide('c', long)], { isInStep: true });
    await wait(39);
    expect(page.shown).toEqual(['a']);
    expect(page.faults.length).toBeGreaterThan(0);
    await wait(2);
    expect(page.shown).toEqual(['a', 'c']);
    expect(page.times[1]).toBe(NOON + 40_000);
  });

  it('a slow slide comes late, and the next one in time', async () => {
    const short = { duration_seconds: 3 };
    const page = openScene([slide('a', short), slide('slow', { duration_seconds: 4 }), slide('c', short)], {
      isInStep: true,
    });
    await wait(7.1);
    expect(page.shown).toEqual(['a', 'slow', 'c']);
    expect(page.times[2]).toBe(NOON + 7_000);
  });

  it('a page that was halted joins the others where they are', async () => {
    const page = openScene(slides, { isInStep: true });
    await wait(2);
    void page.player.halt(true, false);
    await wait(9);
    expect(page.shown).toEqual(['a']);
    void page.player.halt(false, false);
    await wait(0.5);
    expect(page.shown).toEqual(['a', 'c']);
    await wait(4);
    expect(page.times[2]).toBe(NOON + 15_000);
  });

  it('a step moves the page out of sync, a refresh leaves it there, and a step back ends that', async () => {
    const page = openScene(slides, { isInStep: true });
    await wait(2);
    page.player.step(1);
    await wait(0.1);
    expect(page.shown).toEqual(['a', 'b']);
    await wait(5);
    expect(page.shown).toEqual(['a', 'b', 'c']);
    expect(page.times[2]).toBeCloseTo(NOON + 7_000, -1);
    page.player.retry();
    await wait(0.1);
    expect(page.shown).toEqual(['a', 'b', 'c']);
    page.player.step(-1);
    await wait(0.1);
    expect(page.shown).toEqual(['a', 'b', 'c', 'b']);
    page.player.step(-1);
    await wait(0.1);
    expect(page.shown.at(-1)).toBe('a');
  });

  it('two pages go to a slide together, and stay together', async () => {
    const pages = [openScene(slides, { isInStep: true }), openScene(slides, { isInStep: true })];
    await wait(2);
    for (const page of pages) page.player.goTo('c');
    await wait(0.1);
    expect(pages.map(({ shown }) => shown)).toEqual([
      ['a', 'c'],
      ['a', 'c'],
    ]);
    for (const page of pages) page.player.goTo('nowhere');
    await wait(5);
    expect(pages.map(({ shown }) => shown.at(-1))).toEqual(['a', 'a']);
    expect(pages[0]?.times).toEqual(pages[1]?.times);
  });

  it('a step survives new data in slides, but not another order of them', async () => {
    const page = openScene(slides, { isInStep: true });
    await wait(2);
    page.player.step(1);
    await wait(1);
    const [a, b, c] = slides as [Slide, Slide, Slide];
    page.player.load(payloadOf(a, { ...b, body: 'new' }, c), true);
    await wait(1);
    expect(page.shown).toEqual(['a', 'b', 'b']);
    page.player.load(payloadOf(a, c, { ...b, body: 'new' }), true);
    await wait(0.1);
    expect(page.shown.at(-1)).toBe('a');
  });

  it('a step goes past a slide that failed, and can be taken while halted', async () => {
    const long = { duration_seconds: 20 };
    const page = openScene([slide('a', long), slide('broken', long), slide('c', long)], { isInStep: true });
    await wait(6);
    void page.player.halt(true, false);
    page.player.step(1);
    await wait(60);
    expect(page.shown).toEqual(['a', 'c']);
    expect(page.halts.at(-1)).toBe('pause c');
  });

  it('nothing is shown longer than its schedule says, halted or not', async () => {
    const until = { schedule_mode: 'between', schedule_end_datetime: '2026-07-01T12:00:08Z' } as const;
    const page = openScene([slide('a', { duration_seconds: 60, ...until })], { isInStep: true });
    await wait(4);
    void page.player.halt(true, false);
    await wait(60);
    expect(page.shown).toEqual(['a', 'idle']);
  });

  it('a single slide is not begun again', async () => {
    const page = openScene([slide('a')], { isInStep: true });
    await wait(30);
    expect(page.shown).toEqual(['a']);
  });

  it('a slide that no other can follow restarts at its next slot', async () => {
    const long = { duration_seconds: 20 };
    const page = openScene([slide('a', long), slide('broken', long)], { isInStep: true });
    const first = Math.floor(NOON / 40_000) * 40_000 + 40_000 - NOON;
    await wait(first / 1000 - 0.1);
    expect(page.halts).toEqual([]);
    await wait(0.2);
    expect([page.shown, page.halts]).toEqual([['a'], ['restart a']]);
    expect(page.paces.get('a')?.position(performance.now())).toBeCloseTo(100, 0);
  });

  it('a playlist that changes leaves alone what it does not change', async () => {
    const page = openScene([slide('a', { duration_seconds: 600 })], { isInStep: true });
    await wait(1);
    page.player.load(payloadOf(slide('a', { duration_seconds: 600 }), slide('z', { duration_seconds: 1 })), true);
    await wait(1);
    expect(page.shown).toEqual(['a']);
  });

  it('a playlist that changes leaves alone what is being made ready, whatever its place', async () => {
    const [a, broken, slow] = ['a', 'broken', 'slow'].map((id) => slide(id, { duration_seconds: 9 }));
    if (a === undefined || broken === undefined || slow === undefined) throw new Error('there are three');
    const page = openScene([a, broken, slow], { isInStep: true });
    const first = Math.floor(NOON / 27_000) * 27_000 + 27_000 + 18_000 - NOON;
    await wait(first / 1000 + 2);
    page.player.load(payloadOf(a, broken, slow), true);
    await wait(4);
    expect(page.shown.at(-1)).toBe('slow');
  });

  it('a playlist can become synchronized or standalone', async () => {
    const page = openScene(slides);
    await wait(1);
    page.player.load(payloadOf(...slides), true);
    await wait(4.5);
    expect(page.times.at(-1)).toBe(NOON + 5_000);
    page.player.load(payloadOf(...slides));
    await wait(1);
    expect(page.paces.get('b')).toBeNull();
  });
});
