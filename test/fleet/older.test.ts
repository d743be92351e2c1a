/** Content that the fleet wants, at a box that is older than what plays there. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createWanted } from '../../service/fleet/wanted.ts';
import { hasNats, startHub } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { testTempo } from '../support/tempo.ts';
import { saying, want } from './support.ts';

test.skipIf(!hasNats)('it waits for other content, and does not read the push again and again', async () => {
  const hub = await startHub();
  const site = await hub.as(await hub.credentials('Wien'));
  const reads = vi.spyOn(site, 'request');
  await want(await hub.headOffice(), 'Wien', saying('New'), { id: 'push-1' });
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
  onLine({ nats: site, ended: ended.signal });
  const older = { path: '', message: expect.stringContaining('This box is older than the content that plays') };
  await expect.poll(describe, patience).toMatchObject({ state: 'pending', wantedPush: 'push-1', errors: [older] });
  await delay(3 * (testTempo.fleet.retry + testTempo.fleet.announced));
  expect(reads).toHaveBeenCalledTimes(1);
  expect(publish).not.toHaveBeenCalled();

  isWhole = true;
  playOther();
  await expect.poll(() => publish.mock.calls.length, patience).toBe(1);
  expect(describe()).toMatchObject({ errors: [] });
  ended.abort();
});
