/** Whose clock a page goes by. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClock, createSyncClock } from '../../renderer/player/clock.ts';
import { describeBrowser } from '../support/browser.ts';
import { healthOf, logged } from '../support/observe.ts';
import { lobby, openPlayer, patience } from '../support/player.ts';
import { startTestService } from '../support/service.ts';

const built = Date.parse('2026-06-01T00:00Z');
const now = Date.parse('2026-07-01T12:00Z');
const unset = Date.parse('1970-01-01T00:01Z');
const hour = 3_600_000;

describe('a clock', () => {
  beforeEach(() => vi.useFakeTimers({ now }));
  afterEach(() => vi.useRealTimers());

  it.each([
    ['both agree', now + 59_000, now, 'ok', now + 59_000],
    ["the page's own is not set", now, unset, 'page', now],
    ["the page's own is an hour off", now, now + hour, 'page', now],
    ["the service's is not set", unset, now, 'service', now],
    ['neither is set', unset, unset + hour, 'unset', unset],
    ['the service has not said and its own can be right', null, now, 'service', now],
    ['the service has not said and its own can not be right', null, unset, 'unset', unset],
  ] as const)('where %s', (_, service, own, state, time) => {
    const clock = createClock(built);
    if (service !== null) clock.set(service, 0);
    vi.setSystemTime(own);
    expect([clock.state(), clock.now()]).toEqual([state, time]);
  });

  it('goes on by itself, whatever is done to the own one', () => {
    const clock = createClock(built);
    clock.set(now, 0);
    vi.advanceTimersByTime(hour);
    vi.setSystemTime(unset);
    expect([clock.state(), clock.now()]).toEqual(['page', now + hour]);
  });

  it('tells how far it was set, beginning with the second time, and leaves what is within the tolerance', () => {
    const clock = createClock(built);
    expect(clock.set(now - hour, 0)).toBe(0);
    expect(clock.set(now, 0)).toBe(hour);
    expect(clock.set(now + 1_500, 2_000)).toBe(0);
    expect(clock.now()).toBe(now);
    expect(clock.set(now - 10, 0)).toBe(-10);
  });

  it('comes back by itself when the service has been set', () => {
    const clock = createClock(built);
    vi.setSystemTime(unset);
    clock.set(unset, 0);
    expect(clock.state()).toBe('unset');
    clock.set(now, 2_000);
    expect([clock.state(), clock.now()]).toEqual(['page', now]);
  });
});

describe("the site's time", () => {
  beforeEach(() => vi.useFakeTimers({ now }));
  afterEach(() => vi.useRealTimers());

  /** The error of the page, in ms, after answers whose way there took so long each; the last of them again and again. */
  const errorAfter = async (seconds: number, ...waysThere: number[]) => {
    const clock = createClock(built);
    clock.set(now, 0);
    let asked = 0;
    const sync = createSyncClock(clock, (message) => {
      const { type, t0 = 0 } = message as { type: string; t0?: number };
      if (type !== 'time') return;
      const there = waysThere[Math.min(asked, waysThere.length - 1)] ?? 0;
      asked += 1;
      setTimeout(() => sync.answer({ type: 'time', t0, t1: Date.now(), t2: Date.now(), followed: true }), there);
    });
    expect(sync.at(clock.elapsed())).toBe(clock.now());
    sync.ask();
    await vi.advanceTimersByTimeAsync(seconds * 1000);
    expect(clock.now()).toBe(sync.at(clock.elapsed()));
    return { error: sync.at(clock.elapsed()) - Date.now(), asked };
  };

  it('is right within milliseconds on a machine that is busy while the page starts', async () => {
    const busy = Array.from({ length: 12 }, () => 90);
    const { error } = await errorAfter(3, ...busy, 2);
    expect(Math.abs(error)).toBeLessThan(3);
  });

  it('is the time of day of the page where the service goes by it, and only there', () => {
    const clock = createClock(built);
    const sync = createSyncClock(clock, () => {});
    const answer = (ahead: number, followed: boolean | null): number => {
      const time = Date.now() + ahead;
      return Math.round(sync.answer({ type: 'time', t0: clock.elapsed(), t1: time, t2: time, followed }));
    };
    const ahead = (): number => Math.round(clock.now() - Date.now());
    // The clock of the box stands a week back.
    clock.set(now - 168 * hour, 0);
    expect([answer(0, false), ahead()]).toEqual([0, -168 * hour]);
    expect([answer(0, true), ahead(), clock.state()]).toEqual([168 * hour, 0, 'ok']);
    // What the service says of its own clock changes nothing as long as it goes by that of the site.
    expect([clock.set(now - 167 * hour, 0), ahead()]).toEqual([0, 0]);
    expect(Math.round(sync.at(clock.elapsed()) - Date.now())).toBe(0);
    // A box that has just started does not know yet.
    expect([answer(-168 * hour, null), ahead()]).toEqual([0, 0]);
    expect([answer(0, false), ahead()]).toEqual([-167 * hour, -167 * hour]);
  });

  it('is asked for now and then once it is precise, or cannot be', async () => {
    expect((await errorAfter(20, 2)).asked).toBeLessThan(14);
    expect((await errorAfter(30, 60)).asked).toBeLessThan(50);
  });
});

describeBrowser('the clock of a page', () => {
  it('that is wrong is reported, and so is a time that is set', async () => {
    const service = await startTestService({ content: lobby([{ kind: 'text', title: 'Hello' }]) });
    const page = await openPlayer(service, 'lobby');
    const clockNow = async () => (await healthOf(service)).pages.map(({ clock }) => clock);
    await expect.poll(clockNow, patience).toEqual(['ok']);

    await page.addInitScript(() => {
      const { now } = Date;
      Date.now = () => now() - 7_200_000;
    });
    // An hour ahead until the socket says what time it is.
    await page.route('**/playlist', async (route) => {
      const response = await route.fetch();
      const date = new Date(Date.now() + 3_600_000).toUTCString();
      await route.fulfill({ response, headers: { ...response.headers(), date } });
    });
    await page.reload();
    await expect.poll(clockNow, patience).toEqual(['page']);
    await expect
      .poll(
        () => logged(service, 'the clock of a page was set').map(({ stepMs }) => Math.abs(Number(stepMs))),
        patience,
      )
      .toContainEqual(expect.closeTo(3_600_000, -4));
  });
});
