/** Content that the fleet wants, at a box that is older than what plays there. */
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { expect, test, vi } from 'vitest';
import { createWanted } from '../../service/fleet/wanted.ts';
import { patience } from '../support/observe.ts';
import { testTempo } from '../support/tempo.ts';
import { saying } from './support.ts';

const hub = vi.hoisted(() => ({ newest: vi.fn() }));
vi.mock('../../service/fleet/hub.ts', async (original) =>
  Object.assign({}, await original<object>(), { openHubApi: () => hub }),
);

test('it waits for other content, and does not read the push again and again', async () => {
  const meta = headers();
  meta.set('Signage-Push', 'push-1');
  meta.set('Signage-Pushed-At', '2026-11-01T08:00:00.000Z');
  const value = gzipSync(JSON.stringify(saying('New')));
  hub.newest.mockResolvedValue({ value, headers: meta, sequence: 1, storedAt: new Date() });
  let isWhole = false;
  let playOther = (): void => undefined;
  const publish = vi.fn();
  const log = { info: vi.fn(), warn: vi.fn(), debug: vi.fn(), error: vi.fn() };
  const ended = new AbortController();
  const { onLine, describe } = createWanted(
    { site: 'Wien', nodeId: 'a', random: () => 0.5, tempo: testTempo, now: Date.now, monotonicNow: Date.now, log },
    {
      content: {
        playing: () => null,
        isWhole: () => isWhole,
        publish,
        onPlay: (listener: () => void) => {
          playOther = listener;
        },
      },
      audit: { during: (_rule: unknown, _asked: unknown, work: () => Promise<unknown>) => work() },
      boxesBefore: () => 0,
      onChange: () => undefined,
      refusals: { set: vi.fn() },
    } as unknown as Parameters<typeof createWanted>[1],
  );
  onLine({ nats: { subscribe: vi.fn() } as unknown as NatsConnection, ended: ended.signal });
  const older = { path: '', message: expect.stringContaining('This box is older than the content that plays') };
  await expect.poll(describe, patience).toMatchObject({ state: 'pending', wantedPush: 'push-1', errors: [older] });
  await delay(3 * (testTempo.fleet.retry + testTempo.fleet.announced));
  expect(hub.newest).toHaveBeenCalledTimes(1);
  expect(publish).not.toHaveBeenCalled();

  isWhole = true;
  playOther();
  await expect.poll(() => publish.mock.calls.length, patience).toBe(1);
  expect(describe()).toMatchObject({ errors: [] });
  ended.abort();
});
