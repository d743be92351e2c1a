/** What pages tell of their clocks and swaps, and what /healthz makes of it. */
import { describe, expect, test } from 'vitest';
import { lobby, lobbyWith } from '../content/samples.ts';
import { healthOf, logged, patience, titlesOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService } from '../support/service.ts';

test('gaps are kept by page and for all, and a page that leaves takes its own along', async () => {
  const service = await startTestService({ content: lobby });
  const none = { count: 0, p50: null, p99: null, max: null };
  expect(await healthOf(service)).toMatchObject({ gaps: none, pages: [] });

  const first = await joinScreen(service, 'lobby');
  const second = await joinScreen(service, 'lobby', { clientId: 'client-2' });
  for (let gapMs = 1; gapMs <= 100; gapMs++) first.send({ type: 'swap', slideId: 'a', gapMs });
  second.send({ type: 'swap', slideId: null, gapMs: 500 });
  second.send({ type: 'clock', state: 'unset', stepMs: -3_600_000 });

  const page = { screenSlug: 'lobby' };
  const firstPage = { ...page, connectionId: first.connectionId, gaps: { count: 100, p50: 50, p99: 99, max: 100 } };
  const secondPage = { ...page, connectionId: second.connectionId, gaps: { count: 1, p50: 500, p99: 500, max: 500 } };
  await expect
    .poll(() => healthOf(service), patience)
    .toMatchObject({
      gaps: { count: 101, p50: 51, p99: 100, max: 500 },
      pages: [
        { ...secondPage, clock: 'unset' },
        { ...firstPage, clock: null },
      ],
    });
  expect(logged(service, 'the clock of a page was set')).toMatchObject([{ stepMs: -3_600_000 }]);

  second.socket.close();
  await expect.poll(async () => (await healthOf(service)).pages, patience).toHaveLength(1);
  expect((await healthOf(service)).gaps.max).toBe(500);
});

test('what a page could not show last is told', async () => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  page.send({ type: 'fault', slideId: 'a', reason: 'it is gone' });
  page.send({
    type: 'fault',
    slideId: null,
    reason: 'http://me:p@ss@box/?a=b@c does not answer; nor does rtsp://x:y@z',
  });
  const reason = 'http://box/?a=b@c does not answer; nor does rtsp://z';
  await expect
    .poll(async () => (await healthOf(service)).pages, patience)
    .toMatchObject([{ clock: null, lastFault: { slideId: null, reason } }]);
  expect(logged(service, 'a slide was skipped')).toMatchObject([{ slideId: 'a', reason: 'it is gone' }]);
  expect(logged(service, 'a page could not show its playlist or a redirect, or keep its plays')).toMatchObject([
    { slideId: null, reason },
  ]);
});

describe('a fault is over', () => {
  const failed = async () => {
    const slides = ['a', 'b'].map((id) => ({ kind: 'text', title: id, id }));
    const service = await startTestService({ content: lobbyWith(slides) });
    const page = await joinScreen(service, 'lobby');
    const faultOf = async () => (await healthOf(service)).pages[0]?.lastFault?.slideId ?? null;
    page.send({ type: 'state', currentSlide: 0, currentSlideId: 'a' });
    page.send({ type: 'fault', slideId: 'a', reason: 'it broke' });
    await expect.poll(faultOf, patience).toBe('a');
    return { service, page, slides, faultOf };
  };

  test('when its slide plays again, and not because another one does or the page says more of the same', async () => {
    const { service, page, faultOf } = await failed();
    page.send({ type: 'state', currentSlide: 0, currentSlideId: 'a', paused: true });
    page.send({ type: 'state', currentSlide: 1, currentSlideId: 'b' });
    page.send({ type: 'swap', slideId: 'b', gapMs: 77 });
    await expect.poll(async () => (await healthOf(service)).gaps.max, patience).toBe(77);
    expect(await faultOf()).toBe('a');
    page.send({ type: 'state', currentSlide: 0, currentSlideId: 'a' });
    await expect.poll(faultOf, patience).toBe(null);
  });

  test('when its slide changes, and not because another one does', async () => {
    const { service, slides, faultOf } = await failed();
    const [a, b] = slides;
    service.writeContent(lobbyWith([a, { ...b, title: 'changed' }]));
    await expect.poll(() => titlesOf(service), patience).toEqual(['a', 'changed']);
    expect(await faultOf()).toBe('a');
    service.writeContent(lobbyWith([{ ...a, body: 'mended' }, b]));
    await expect.poll(faultOf, patience).toBe(null);
  });
});

test('the figures are those of the last thousand swaps', async () => {
  const service = await startTestService({ content: lobby });
  const slow = await joinScreen(service, 'lobby', { clientId: 'slow' });
  slow.send({ type: 'swap', slideId: 'a', gapMs: 900 });
  await expect.poll(async () => (await healthOf(service)).gaps.max, patience).toBe(900);
  for (let page = 0; page < 10; page++) {
    const { send } = await joinScreen(service, 'lobby', { clientId: `page-${page}` });
    for (let swap = 0; swap < 100; swap++) send({ type: 'swap', slideId: 'a', gapMs: 0 });
  }
  await expect
    .poll(async () => (await healthOf(service)).gaps, patience)
    .toEqual({ count: 1_001, p50: 0, p99: 0, max: 0 });
});

test.each([
  ['a gap below zero', { type: 'swap', slideId: 'a', gapMs: -1 }],
  ['a gap that is endless', '{"type":"swap","slideId":"a","gapMs":1e999}'],
  ['a swap of nothing', { type: 'swap', gapMs: 1 }],
  ['a clock in a state of its own', { type: 'clock', state: 'late', stepMs: 0 }],
])('%s breaks the protocol', async (_, message) => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  page.send(message);
  expect(await page.closed).toBe(1008);
});
