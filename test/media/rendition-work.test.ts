/** The work at renditions, with a converter and a disk that do what a test wants. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { CodedError } from '../../service/contract/errors.ts';
import type { Converter } from '../../service/media/renditions/convert.ts';
import { reasons } from '../../service/media/renditions/reasons.ts';
import { openRenditionStore } from '../../service/media/renditions/store.ts';
import { createRenditionWork, type Wanted } from '../../service/media/renditions/work.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { mediaContext } from './context.ts';

it('a disk that fills in the middle of a conversion ends it, which is no failure; with room it begins again', async () => {
  const data = temporaryFolder();
  const context = {
    ...mediaContext(data, { options: { convert: true, convertHours: null } }),
    monotonicNow: () => performance.now(),
    ids: { nodeId: 'box' } as never,
  };
  const original = join(context.dirs.media, 'film');
  mkdirSync(context.dirs.media, { recursive: true });
  writeFileSync(original, 'a film');
  const sha256 = 'a'.repeat(64);
  const medium = { path: original, mediaType: 'video/mp4', profile: 'h264', duration: 1, sha256 } as const;
  const wanted: Wanted[] = [{ ...medium, isNamed: true, isUpload: false, hasOwner: false }];
  let isFull = false;
  const ends: string[] = [];
  const convert: Converter['convert'] = async (_, { folder, signal }) => {
    if (isFull || ends.length === 0) {
      isFull = true;
      // It goes on until it is told to end.
      await pause(10_000, undefined, { signal }).catch(() => ends.push('ended'));
      signal.throwIfAborted();
    }
    const out = join(folder, 'rendition.mp4');
    writeFileSync(out, 'small');
    return out;
  };
  const store = await openRenditionStore(context);
  const work = createRenditionWork(context, {
    store,
    catalog: { hashOf: () => sha256 },
    converter: { lackOf: async () => null, convert },
    downloads: { fetch: () => Promise.reject(new Error('there is no other box')) },
    wanted: async () => wanted,
    requireRoom: async () => {
      if (isFull) throw new CodedError('insufficient_storage');
    },
    askSite: async () => ({ holders: [], isIncomplete: false }),
    rest: async () => null,
  });
  onTestFinished(async () => {
    await work.close();
    await store.close();
  });
  work.look();
  const status = () => work.statusOf(sha256, medium);
  await vi.waitUntil(() => ends.length === 1, patience);
  await expect.poll(status, patience).toMatchObject({ state: 'queued', reason: reasons.room });
  expect(work.counts().results).toMatchObject({ made: 0, failed: 0 });
  isFull = false;
  await expect.poll(status, patience).toMatchObject({ state: 'ready', size: 5 });
  expect(ends).toHaveLength(1);
});
