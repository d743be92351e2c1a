/** The clock of the hub, as a box estimates it. */
import { expect, test, vi } from 'vitest';
import { createFleetClock, createStatus } from '../../service/fleet/status.ts';
import { hasNats, startHub } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { testTempo } from '../support/tempo.ts';

test('the clock of the box counts until the hub has dated an event, then that of the hub', () => {
  let monotonic = 1_000;
  const clock = createFleetClock({ now: () => 5, monotonicNow: () => monotonic });
  expect(clock.now()).toBe(5);
  clock.observe(70_000, 900, 1_000);
  expect(clock.now()).toBe(70_050);
  monotonic += 60_000;
  expect(clock.now()).toBe(130_050);
});

test('a slow answer does not replace an estimate that it agrees with, and one that contradicts it does', () => {
  const clock = createFleetClock({ now: () => 0, monotonicNow: () => 0 });
  clock.observe(1_000_010, 0, 20);
  clock.observe(1_006_000, 5_000, 9_000);
  expect(clock.now()).toBe(1_000_000);
  // The machine was suspended, or the hub has another clock.
  clock.observe(2_010_010, 10_000, 10_020);
  expect(clock.now()).toBe(2_000_000);
});

test.skipIf(!hasNats)('the status before, which a server that lags still has, does not date the next', async () => {
  const hub = await startHub();
  const site = await hub.as(await hub.credentials('Wien'));
  const ask = site.request.bind(site);
  const answers: ReturnType<typeof ask>[] = [];
  let isLagging = false;
  vi.spyOn(site, 'request').mockImplementation((subject, ...rest) => {
    if (!subject.includes('DIRECT.GET')) return ask(subject, ...rest);
    answers.push(isLagging && answers[0] !== undefined ? answers[0] : ask(subject, ...rest));
    return answers.at(-1) as ReturnType<typeof ask>;
  });
  const observe = vi.fn();
  let warnings: string[] = [];
  const log = { info: vi.fn(), warn: vi.fn(), debug: vi.fn(), error: vi.fn() };
  const tempo = { ...testTempo, fleet: { ...testTempo.fleet, look: 20, clock: 0 } };
  const context = { site: 'Wien', nodeId: 'a', random: () => 0, tempo, now: Date.now, monotonicNow: Date.now, log };
  const status = createStatus(context, {
    box: { nodeId: 'a', site: 'Wien', name: 'box', version: '1', startedAt: '' },
    report: async () => ({ status: 'ok', warnings, connections: 0, url: null }),
    playing: () => undefined,
    clock: { observe },
    refusals: { set: vi.fn() },
    onRecovered: vi.fn(),
    onStatus: vi.fn(),
  });
  const ended = new AbortController();
  status.onLine({ nats: site, ended: ended.signal });
  await expect.poll(() => observe.mock.calls.length, patience).toBe(1);
  isLagging = true;
  warnings = ['second'];
  status.wake();
  await expect.poll(() => answers.length, patience).toBe(2);
  isLagging = false;
  warnings = ['third'];
  status.wake();
  await expect.poll(() => answers.length, patience).toBe(3);
  await expect.poll(() => observe.mock.calls.length, patience).toBeGreaterThan(1);
  const [first, next] = observe.mock.calls.map(([stored]) => stored as number);
  expect(next).toBeGreaterThan(first ?? 0);
  ended.abort();
});
