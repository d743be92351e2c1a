/** Content that the fleet wants, at a box that cannot take it as it is: it is older than what plays, or knows more. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type Content, validateContent } from '../../service/content/index.ts';
import { asFile } from '../../service/domain/document.ts';
import { createWanted } from '../../service/fleet/wanted.ts';
import { hasNats, startHub } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { testTempo } from '../support/tempo.ts';
import { saying, want } from './support.ts';

/** A push for a box that is made by hand. */
const startWanted = async (content: Partial<Content>, document: object = saying('New')) => {
  const hub = await startHub();
  const site = await hub.as(await hub.credentials('Wien'));
  const reads = vi.spyOn(site, 'request');
  const office = await hub.headOffice();
  const push = (id: string) => want(office, 'Wien', document, { id });
  await push('push-1');
  let playOther = (): void => undefined;
  const publish = vi.fn();
  const log = { info: vi.fn(), warn: vi.fn(), debug: vi.fn(), error: vi.fn() };
  const ended = new AbortController();
  const { onLine, describe } = createWanted(
    { site: 'Wien', nodeId: 'a', random: () => 0.5, tempo: testTempo, now: Date.now, monotonicNow: Date.now, log },
    {
      content: {
        playing: () => null,
        isWhole: () => true,
        validate: validateContent,
        publish,
        onPlay: (listener: () => void) => {
          playOther = listener;
        },
        ...content,
      },
      clock: { now: Date.now, ahead: () => 0 },
      audit: { during: (_rule: unknown, _asked: unknown, work: () => Promise<unknown>) => work() },
      boxesBefore: () => 0,
      onChange: () => undefined,
      refusals: { set: vi.fn() },
      secrets: { onChange: () => undefined },
    } as unknown as Parameters<typeof createWanted>[1],
  );
  onLine({ nats: site, ended: ended.signal });
  return { push, describe, reads, publish, playOther: () => playOther(), end: () => ended.abort() };
};

test.skipIf(!hasNats)('it waits for other content, and does not read the push again and again', async () => {
  let isWhole = false;
  const { describe, reads, publish, playOther, end } = await startWanted({ isWhole: () => isWhole });
  const older = { path: '', message: expect.stringContaining('This box is older than the content that plays') };
  await expect.poll(describe, patience).toMatchObject({ state: 'pending', wantedPush: 'push-1', errors: [older] });
  await delay(3 * (testTempo.fleet.retry + testTempo.fleet.announced));
  expect(reads).toHaveBeenCalledTimes(1);
  expect(publish).not.toHaveBeenCalled();

  isWhole = true;
  playOther();
  await expect.poll(() => publish.mock.calls.length, patience).toBe(1);
  expect(describe()).toMatchObject({ errors: [] });
  end();
});

test.skipIf(!hasNats)('a push that is an error here plays once a newer box of the site has taken it', async () => {
  let playing: ReturnType<Content['playing']> = null;
  const document = { ...saying('New'), holograms: [] };
  const { describe, playOther, end } = await startWanted({ playing: () => playing }, document);
  await expect.poll(describe, patience).toMatchObject({ state: 'refused', errors: [{ path: '' }] });
  const play = (text: string): void => {
    const push = { id: 'push-1', at: new Date().toISOString(), sha256: '', site: 'Wien' };
    playing = { text, push } as typeof playing;
    playOther();
  };
  play(asFile(JSON.stringify(document), document));
  expect(describe()).toMatchObject({ state: 'applied', diverged: false, errors: [] });
  play('{}');
  expect(describe()).toMatchObject({ state: 'diverged', diverged: true, errors: [] });
  end();
});

test.skipIf(!hasNats)('a push is read again where a server that lags has answered with the one before', async () => {
  const { push, describe, reads, end } = await startWanted({});
  await expect.poll(describe, patience).toMatchObject({ wantedPush: 'push-1' });
  const old = reads.mock.results[0]?.value;
  reads.mockReturnValueOnce(old).mockReturnValueOnce(old);
  await push('push-2');
  await expect.poll(describe, patience).toMatchObject({ wantedPush: 'push-2' });
  expect(reads).toHaveBeenCalledTimes(4);
  end();
});

test.skipIf(!hasNats)('a push is taken after one that a clock ahead of that of the hub has dated', async () => {
  const at = new Date(Date.now() + 7_200_000).toISOString();
  const last = { id: 'push-0', at, sha256: '', site: 'Wien' };
  const { publish, end } = await startWanted({ playing: () => ({ push: last }) as ReturnType<Content['playing']> });
  await expect.poll(() => publish.mock.calls.length, patience).toBeGreaterThan(0);
  end();
});

test.skipIf(!hasNats)('what is an error of an edit here is one of a push', async () => {
  const issues = [{ path: 'screens', message: 'the secret is for other addresses' }];
  const { describe, publish, end } = await startWanted({ validate: () => ({ ok: false, issues }) });
  await expect.poll(describe, patience).toMatchObject({ state: 'refused', wantedPush: 'push-1', errors: issues });
  expect(publish).not.toHaveBeenCalled();
  end();
});
