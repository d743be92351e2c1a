/** What is converted first, and what is known of media before they have been read. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createEmitter } from '../../service/domain/emitter.ts';
import { openLedger } from '../../service/media/copies/ledger.ts';
import { openDeletions } from '../../service/media/deletions.ts';
import { createRenditions } from '../../service/media/renditions/index.ts';
import { openRenditionStore } from '../../service/media/renditions/store.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { mediaContext } from './context.ts';

it('a renamed file has the place of its old name, and what is said of that', async () => {
  const deletions = await openDeletions(mediaContext(temporaryFolder()));
  onTestFinished(() => deletions.close());
  const deletedAt = '2026-05-04T12:00:00.000Z';
  await deletions.add([
    { name: 'old', deletedAt, sha256: 'a'.repeat(64), renamed: { to: 'new', modifiedAt: deletedAt } },
  ]);
  const placesOf = (...names: string[]): string[] => [...deletions.withRenamed(new Set(names))];
  expect(placesOf('first', 'old', 'last')).toEqual(['first', 'old', 'new', 'last']);
  expect(placesOf('old', 'last', 'new')).toEqual(['old', 'new', 'last']);
  expect(placesOf('first', 'last')).toEqual(['first', 'last']);
  const usesOf = (uses: Record<string, string>) =>
    Object.fromEntries(deletions.withRenamedKeys(new Map(Object.entries(uses))));
  expect(usesOf({ old: 'a', last: 'b' })).toEqual({ old: 'a', new: 'a', last: 'b' });
  expect(usesOf({ old: 'a', new: 'b' })).toEqual({ old: 'a', new: 'b' });
});

it('room is made without a look into copies, once the files that the content names have been read', async () => {
  const context = mediaContext(temporaryFolder(), { options: { convert: true, convertHours: null } });
  const store = await openRenditionStore(context);
  const ledger = await openLedger(context);
  const shown = 'a'.repeat(64);
  const spare = 'b'.repeat(64);
  for (const original of [shown, spare]) {
    const file = join(context.dirs.data, original);
    writeFileSync(file, 'small');
    await store.put(original, file, { profile: 'h264', sha256: original, size: 5, mediaType: 'video/mp4' });
  }
  writeFileSync(ledger.fileOf({ sha256: shown }), 'a film');
  const copy = { sha256: shown, mediaType: 'video/mp4', size: 6, usedAt: 0 } as never;
  let probes = 0;
  const unread = new Set(['film.mp4']);
  const withCopy = { ...ledger, all: () => [{ url: 'http://film', copy, isNamed: true }] };
  const renditions = createRenditions({ ...context, monotonicNow: () => 0 } as never, {
    store,
    catalog: { list: async () => [], untried: () => unread, onLearn: () => {} } as never,
    ledger: withCopy,
    downloads: {} as never,
    content: { mediaInOrder: () => new Set(), mediaNames: () => new Set(['film.mp4']), onChange: () => {} } as never,
    isPeerCopy: () => false,
    requireRoom: async () => {},
    askSite: async () => ({ holders: [] }),
    deleted: () => new Set(),
    probe: async () => {
      probes += 1;
      return null;
    },
  });
  onTestFinished(async () => {
    await renditions.close();
    await ledger.close();
    await store.close();
  });
  expect(await renditions.evict(100)).toBe(0);
  // The named film has been read.
  unread.clear();
  expect(await renditions.evict(100)).toBe(5);
  expect(probes).toBe(0);
  expect(store.originals()).toEqual([shown]);
});

it('a film that is uploaded again, and has to be read, keeps its rendition; that of a deleted one goes', async () => {
  const context = mediaContext(temporaryFolder(), {
    options: { convert: false, convertHours: null, variant: 'extended' },
  });
  const store = await openRenditionStore(context);
  const ledger = await openLedger(context);
  const known = { profile: 'h264' as const, isProbed: true, isReadable: true, loudness: null };
  const filmOf = (name: string, facts: object) => {
    const given = { name, path: join(context.dirs.uploads, name), modifiedAt: '2026-05-04T12:00:00.000Z' };
    return Object.assign({ sha256: name.repeat(64), mediaType: 'video/quicktime', duration: 1 }, given, facts);
  };
  for (const name of ['a', 'b']) {
    const [original, file] = [name.repeat(64), join(context.dirs.data, name)];
    writeFileSync(file, 'small');
    await store.put(original, file, { profile: 'h264', sha256: original, size: 5, mediaType: 'video/mp4' });
  }
  let films = [filmOf('a', known), filmOf('b', known)];
  const news = createEmitter<[string]>();
  const given = { monotonicNow: () => performance.now(), ffmpeg: { find: async () => ({ path: 'ffmpeg' }) } };
  const renditions = createRenditions(Object.assign({}, context, given) as never, {
    store,
    catalog: { list: async () => films, untried: () => new Set(), onLearn: news.on, hashOf: () => undefined } as never,
    ledger,
    downloads: {} as never,
    content: { mediaInOrder: () => new Set(), mediaNames: () => new Set(), onChange: () => {} } as never,
    isPeerCopy: () => false,
    requireRoom: async () => {},
    askSite: async () => ({ holders: [] }),
    deleted: () => new Set(['b'.repeat(64)]),
    probe: async () => null,
  });
  onTestFinished(async () => {
    await renditions.close();
    await ledger.close();
    await store.close();
  });
  films = [filmOf('a', { ...known, profile: null, isProbed: false })];
  news.emit('a');
  await expect.poll(store.originals, patience).toEqual(['a'.repeat(64)]);
});
