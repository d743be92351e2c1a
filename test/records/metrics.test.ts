/** `GET /metrics`. */
import { describe, expect, test } from 'vitest';
import { command } from '../../service/contract/commands.ts';
import { createMetrics } from '../../service/records/metrics.ts';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';
import { metricsOf, samplesOf, sampleValue } from './samples.ts';

/** Part 11 of the decisions. */
const promised: Record<string, readonly string[]> = {
  signage_build_info: ['version'],
  signage_devices_expected: [],
  signage_devices_connected: [],
  signage_screen_connections: ['screen'],
  signage_swap_gap_seconds_bucket: ['le'],
  signage_swap_gap_seconds_sum: [],
  signage_swap_gap_seconds_count: [],
  signage_slides_shown_total: ['kind', 'result'],
  signage_plays_refused_total: ['reason'],
  signage_commands_total: ['command', 'result'],
  signage_peers: ['state'],
  signage_sync_skew_seconds: [],
  signage_triggers_total: ['trigger', 'result'],
  signage_stream_sessions: ['state'],
  signage_stream_restarts_total: [],
  signage_feed_fetches_total: ['result'],
  signage_media_bytes: ['store'],
  signage_conversions_total: ['result'],
  signage_renditions: ['state'],
  signage_store_writes_total: ['result'],
  signage_recoveries_total: ['step'],
  signage_content_valid: [],
  signage_clock_trusted: [],
  signage_video_frames_total: ['result'],
};

test('it has exactly the promised names and labels, from the start, and those of the process', async () => {
  const service = await startTestService({ content: lobby });
  const response = await service.get('/metrics');
  expect(response.headers.get('Content-Type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const samples = samplesOf(await response.text());
  const own = samples.filter(({ name }) => name.startsWith('signage_'));
  const found = Object.fromEntries(own.map(({ name, labels }) => [name, Object.keys(labels)]));
  expect(found).toEqual(promised);
  expect(sampleValue(samples, 'process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  expect(samples.map(({ name }) => name)).toContain('nodejs_eventloop_lag_p99_seconds');
});

test('it needs no credentials, and the baseline variant has none', async () => {
  const guarded = await startTestService({
    content: lobby,
    env: { SIGNAGE_SHARED_SECRET: 'a secret of 26 characters!' },
  });
  expect((await guarded.get('/metrics')).status).toBe(200);
  expect((await guarded.get('/metrics', { method: 'HEAD' })).status).toBe(200);
  const baseline = await startTestService({ content: lobby, env: { SIGNAGE_VARIANT: 'baseline' } });
  expect((await baseline.get('/metrics')).status).toBe(404);
});

test('two displays of one model are two', async () => {
  const display = { gpu: 'hardware', video_decode: 'unknown' };
  const screens = ['DELL U2720Q', 'HDMI-A-1', 'DELL U2720Q'].map((name) => ({ ...display, display: name }));
  const service = await startTestService({
    content: lobby,
    host: { kiosk: () => ({ screens, recoveries: {}, rendering: 'hardware' }) as never },
  });
  const samples = (await metricsOf(service)).filter(({ name }) => name === 'signage_display_info');
  expect(samples.map(({ labels }) => labels['display'])).toEqual(['DELL U2720Q 1', 'HDMI-A-1', 'DELL U2720Q 3']);
});

test('it counts pages, commands and swaps', async () => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  for (const gapMs of [0, 20, 300]) page.send({ type: 'swap', slideId: 'a', gapMs });
  page.send({ type: 'skew', swaps: [-80], videos: [] });
  await service.post('/api/screens/lobby/commands', { command: 'next' });
  await service.post('/api/screens/lobby/commands', { command: 'pause', connectionId: 'nobody' });
  await service.post('/api/screens/lobby/commands', { command: 'next' }, { 'x-signage-relay': 'another box' });
  await service.post('/api/screens/lobby/commands', { command: 'jump' });
  const numbers = async () => {
    const samples = await metricsOf(service);
    return {
      pages: sampleValue(samples, 'signage_screen_connections', { screen: 'lobby' }),
      gaps: sampleValue(samples, 'signage_swap_gap_seconds_count'),
      shortGaps: sampleValue(samples, 'signage_swap_gap_seconds_bucket', { le: '0.034' }),
      skew: sampleValue(samples, 'signage_sync_skew_seconds'),
      next: sampleValue(samples, 'signage_commands_total', { command: 'next', result: 'delivered' }),
      pause: sampleValue(samples, 'signage_commands_total', { command: 'pause', result: 'undelivered' }),
      unknown: sampleValue(samples, 'signage_commands_total', { command: 'jump' }),
    };
  };
  await expect
    .poll(numbers, patience)
    .toEqual({ pages: 1, gaps: 3, shortGaps: 2, skew: 0.08, next: 1, pause: 1, unknown: undefined });
});

test('it says whether the content is valid, whether the clock was set, and what is on the disk', async () => {
  let now = Date.now();
  const service = await startTestService({ content: lobby, wall: () => now });
  await service.get('/api/media/hall.txt', { method: 'PUT', body: 'x'.repeat(1_000) });
  const numbers = async () => {
    const samples = await metricsOf(service);
    return {
      valid: sampleValue(samples, 'signage_content_valid'),
      trusted: sampleValue(samples, 'signage_clock_trusted'),
      uploads: sampleValue(samples, 'signage_media_bytes', { store: 'uploads' }),
      hasWritten: (sampleValue(samples, 'signage_store_writes_total', { result: 'ok' }) ?? 0) > 0,
      failed: sampleValue(samples, 'signage_store_writes_total', { result: 'failed' }),
    };
  };
  const fine = { valid: 1, trusted: 1, uploads: 1_000, hasWritten: true, failed: 0 };
  await expect.poll(numbers, patience).toEqual(fine);
  now = 0;
  service.writeContent('{');
  await expect.poll(numbers, patience).toEqual({ ...fine, valid: 0, trusted: 0 });
});

describe('its size is bounded', () => {
  const site = (from: number, to: number) => {
    const numbers = Array.from({ length: to - from }, (_, index) => from + index);
    return {
      screens: numbers.map((id) => ({ name: `${id}`, slug: `screen-${id}`, playlist_id: `playlist-${id}` })),
      playlists: numbers.map((id) => ({
        id: `playlist-${id}`,
        slides: Array.from({ length: 5 }, (_, index) => ({ kind: 'text', title: `${id}-${index}` })),
      })),
    };
  };

  test('by 1,000 screens, however many slides and connections there are', async () => {
    const service = await startTestService({ content: site(0, 1_000) });
    const page = await joinScreen(service, 'screen-7');
    for (let index = 0; index < 100; index += 1) {
      page.send({ type: 'state', currentSlideId: `slide-${index}`, currentSlideTitle: `title ${index}` });
    }
    const count = async () => (await metricsOf(service)).filter(({ name }) => name.startsWith('signage_')).length;
    const before = await count();
    expect(before).toBeLessThan(1_200);
    expect(before).toBeGreaterThan(1_000);
    // A screen that is removed takes its series along, and further ones are summed.
    service.writeContent(site(5, 1_010));
    await expect
      .poll(async () => {
        const samples = await metricsOf(service);
        return {
          removed: sampleValue(samples, 'signage_screen_connections', { screen: 'screen-0' }),
          others: sampleValue(samples, 'signage_screen_connections', { screen: '_other' }),
          known: sampleValue(samples, 'signage_screen_connections', { screen: 'screen-7' }),
        };
      }, patience)
      .toMatchObject({ removed: undefined, others: expect.any(Number), known: 1 });
    expect(await count()).toBe(before + 1);
  });
});

test('values of a label beyond its maximum are summed, each further label by itself', async () => {
  const fired = (ok: number, failed: number) => ({ ok, failed });
  const counts = Object.fromEntries(Array.from({ length: 204 }, (_, id) => [`trigger-${id}`, fired(id, 1)]));
  const { text } = createMetrics({ monotonicNow: () => 0, tempo: testTempo, kiosk: undefined }, () =>
    Promise.resolve([{ signage_triggers_total: counts }]),
  );
  const samples = samplesOf(await text());
  const countOf = (trigger: string, result: string) =>
    sampleValue(samples, 'signage_triggers_total', { trigger, result });
  expect([countOf('trigger-200', 'ok'), countOf('trigger-200', 'failed')]).toEqual([200, 1]);
  expect([countOf('_other', 'ok'), countOf('_other', 'failed')]).toEqual([201 + 202 + 203, 3]);
});

test('every command has its series', async () => {
  const service = await startTestService({ content: lobby });
  const counted = (await metricsOf(service)).filter(({ name }) => name === 'signage_commands_total');
  const names = command.options.flatMap(({ shape }) =>
    'options' in shape.command ? shape.command.options : [shape.command.value],
  );
  expect(new Set(counted.map(({ labels }) => labels['command']))).toEqual(new Set<unknown>(names));
});
