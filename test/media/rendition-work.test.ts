/** The work at renditions, with a converter and a disk that do what a test wants. */
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { CodedError } from '../../service/contract/errors.ts';
import type { MediaContext } from '../../service/media/context.ts';
import { openLedger } from '../../service/media/copies/ledger.ts';
import { ConversionFault, type Converter, createConverter } from '../../service/media/renditions/convert.ts';
import { reasons } from '../../service/media/renditions/reasons.ts';
import { openRenditionStore } from '../../service/media/renditions/store.ts';
import { createRenditionWork, type Wanted } from '../../service/media/renditions/work.ts';
import type { Confined } from '../../service/platform/confined.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';
import { mediaContext } from './context.ts';

type Work = Parameters<typeof createRenditionWork>[1];

interface Setup extends Pick<Converter, 'convert'> {
  /** Names of films that no other box has, in their order. */
  films: readonly string[];
  options?: Partial<MediaContext['options']>;
  now?: () => number;
  requireRoom?: Work['requireRoom'];
  rest?: Work['rest'];
  askSite?: Work['askSite'];
  /** Whether this box cannot read them. */
  isBlind?: boolean;
  /** Whether another box has taken them from outside. */
  hasOwner?: boolean;
  /** Whether this box took them from outside. */
  isUpload?: boolean;
  /** Whether the playing content names them; default: true. */
  isNamed?: boolean;
  /** Absent: what other boxes have cannot be fetched. */
  fetch?: Work['downloads']['fetch'];
  nodeId?: string;
  hasher?: MediaContext['hasher'];
  monotonicNow?: () => number;
  /** Whether the films are not listed. */
  isGone?: () => boolean;
  /** Whether the films are listed, and nothing is known of them yet. */
  isUnread?: () => boolean;
  /** Whether another file is listed that has not been read yet. */
  isReading?: () => boolean;
  isDeleted?: () => boolean;
  /** Whether one of the folders cannot be read. */
  isBroken?: boolean;
}

const hashOf = (index: number): string => String(index).padStart(64, '0');

const startWork = async ({ films, convert, options, now, requireRoom, rest, askSite, ...setup }: Setup) => {
  const { isBlind = false, hasOwner = false, isUpload = false, isNamed = true } = setup;
  const { monotonicNow = () => performance.now() } = setup;
  const { nodeId = 'box', fetch = () => Promise.reject(new Error('there is no other box')) } = setup;
  const { isGone = () => false, isUnread = () => false, isDeleted = () => false } = setup;
  const { isReading = () => false } = setup;
  const context = {
    ...mediaContext(temporaryFolder(), { options: { convert: true, convertHours: null, ...options } }),
    ...(now && { now }),
    ...(setup.hasher && { hasher: setup.hasher }),
    monotonicNow,
    ids: { nodeId } as never,
  };
  const copies = join(context.dirs.media, 'copies');
  // A link to itself: ELOOP.
  if (setup.isBroken === true) symlinkSync(copies, copies);
  const wanted = films.map((name, index): Wanted => {
    const path = join(context.dirs.media, name);
    writeFileSync(path, 'a film');
    const facts = { path, sha256: hashOf(index), mediaType: 'video/mp4', duration: 1 };
    return { ...facts, profile: isBlind ? null : 'h264', isNamed, isUpload, hasOwner };
  });
  const store = await openRenditionStore(context);
  const work = createRenditionWork(context, {
    store,
    catalog: {
      hashOf: (path) => hashOf(films.indexOf(basename(path))),
      untried: () => new Set(isReading() ? ['other'] : []),
    },
    converter: { lackOf: async () => null, convert },
    downloads: { fetch },
    wanted: async () => (isGone() || isUnread() ? [] : wanted),
    present: async () => new Map(isGone() ? [] : wanted.map(({ sha256, path }) => [sha256, path])),
    deleted: () => new Set(isDeleted() ? wanted.map(({ sha256 }) => sha256) : []),
    requireRoom: requireRoom ?? (async () => {}),
    askSite: askSite ?? (async () => ({ holders: [] })),
    rest: rest ?? (async () => null),
  });
  onTestFinished(async () => {
    await work.close();
    await store.close();
  });
  work.look();
  const statusOf = (name: string) => work.statusOf(hashOf(films.indexOf(name)), { profile: isBlind ? null : 'h264' });
  const saved = () => JSON.parse(readFileSync(join(context.dirs.data, 'renditions.json'), 'utf8')).body.renditions;
  return { work, statusOf, saved };
};

it('a disk that fills in the middle of a conversion ends it, which is no failure; with room it begins again', async () => {
  let isFull = false;
  const ends: string[] = [];
  const convert: Converter['convert'] = async (_, { folder, signal }) => {
    if (isFull || ends.length === 0) {
      isFull = true;
      // Runs until it is aborted.
      await pause(10_000, undefined, { signal }).catch(() => ends.push('ended'));
      signal.throwIfAborted();
    }
    const out = join(folder, 'rendition.mp4');
    writeFileSync(out, 'small');
    return out;
  };
  const requireRoom = async (): Promise<void> => {
    if (isFull) throw new CodedError('insufficient_storage');
  };
  const { work, statusOf } = await startWork({ films: ['film'], convert, requireRoom });
  const status = () => statusOf('film');
  await vi.waitUntil(() => ends.length === 1, patience);
  await expect.poll(status, patience).toMatchObject({ state: 'queued', reason: reasons.room });
  expect(work.counts().results).toMatchObject({ made: 0, failed: 0 });
  isFull = false;
  await expect.poll(status, patience).toMatchObject({ state: 'ready', size: 5 });
  expect(ends).toHaveLength(1);
});

it('a rendition that does not fit is made once, and again only with room for it', async () => {
  let room = 50;
  const asked: number[] = [];
  let conversions = 0;
  const convert: Converter['convert'] = async (_, { folder }) => {
    conversions += 1;
    const out = join(folder, 'rendition.mp4');
    writeFileSync(out, 'x'.repeat(100));
    return out;
  };
  const requireRoom = async (bytes: number): Promise<void> => {
    asked.push(bytes);
    if (bytes > room) throw new CodedError('insufficient_storage');
  };
  const { statusOf } = await startWork({ films: ['film'], convert, requireRoom });
  const looks = () => asked.filter((bytes) => bytes === 100).length;
  await vi.waitUntil(() => looks() > 3, patience);
  expect(statusOf('film')).toMatchObject({ state: 'queued', reason: reasons.room });
  expect(conversions).toBe(1);
  room = 100;
  await expect.poll(() => statusOf('film'), patience).toMatchObject({ state: 'ready', size: 100 });
  expect(conversions).toBe(2);
});

it('what the hours have ended is converted after everything else, and people are told the second time', async () => {
  let wall = Date.parse('2026-05-04T04:00:00Z');
  let isShort = false;
  let isMeasured = false;
  const begun: string[] = [];
  const convert: Converter['convert'] = async ({ path }, { folder, signal }) => {
    begun.push(basename(path));
    if (basename(path) === 'long' && !isShort) await pause(10_000, undefined, { signal });
    const out = join(folder, 'rendition.mp4');
    writeFileSync(out, 'small');
    return out;
  };
  const measure = async (): Promise<void> => {
    begun.push('measurement');
    isMeasured = true;
  };
  const options = { convertHours: { open: '01:00', close: '05:00' } };
  const rest = async () => (isMeasured ? null : measure);
  const { work, statusOf } = await startWork({ films: ['long', 'short'], convert, options, now: () => wall, rest });
  const status = () => statusOf('long');
  await expect.poll(status, patience).toMatchObject({ state: 'converting' });
  wall = Date.parse('2026-05-04T05:00:01Z');
  await expect.poll(status, patience).toMatchObject({ state: 'queued', reason: null });
  wall = Date.parse('2026-05-05T01:00:01Z');
  await expect.poll(status, patience).toMatchObject({ state: 'converting' });
  await expect.poll(() => begun, patience).toEqual(['long', 'short', 'measurement', 'long']);
  wall = Date.parse('2026-05-05T05:00:01Z');
  await expect.poll(status, patience).toMatchObject({ state: 'failed', reason: reasons.hours });
  isShort = true;
  wall = Date.parse('2026-05-06T01:00:01Z');
  await expect.poll(status, patience).toMatchObject({ state: 'ready', reason: null });
  // It is counted after its work folder is gone.
  await expect.poll(() => work.counts().results, patience).toMatchObject({ made: 2, failed: 0 });
});

const makeSmall: Converter['convert'] = async (_, { folder }) => {
  const out = join(folder, 'rendition.mp4');
  writeFileSync(out, 'small');
  return out;
};

it('a stop does not wait for the hash of what was just made', async () => {
  const calls: string[] = [];
  const hashFile = () => ({
    upTo: () => {},
    digest: () => {
      calls.push('begun');
      return new Promise<never>(() => {});
    },
    stop: () => void calls.push('stopped'),
  });
  const { work, statusOf } = await startWork({ films: ['film'], convert: makeSmall, hasher: { hashFile } });
  await expect.poll(() => calls, patience).toEqual(['begun']);
  await work.close();
  expect([calls, statusOf('film').state]).toEqual([['begun', 'stopped'], 'queued']);
});

const { absent } = testTempo.media;

it.each<[what: string, away: 'gone' | 'reading' | 'unread', time: number, isBroken: boolean, state: string]>([
  ['not listed is removed after a while', 'gone', absent, false, 'queued'],
  ['not listed is kept for a while', 'gone', absent - 1, false, 'ready'],
  ['deleted is removed at once', 'gone', 0, false, 'queued'],
  ['not listed is kept where a folder could not be read', 'gone', absent, true, 'ready'],
  ['not listed is kept while a file is read', 'reading', absent, false, 'ready'],
  ['listed and not yet read is kept', 'unread', absent, false, 'ready'],
])('the rendition of a film that is %s', async (what, away, time, isBroken, state) => {
  let [looks, clock, isAway] = [0, 0, false];
  const isGone = () => {
    looks += 1;
    return isAway && away !== 'unread';
  };
  const isDeleted = () => what === 'deleted is removed at once';
  const isReading = () => away === 'reading';
  const setup = { isGone, isDeleted, isReading, isUnread: () => isAway, isBroken, monotonicNow: () => clock };
  const { work, statusOf } = await startWork({ films: ['film'], convert: makeSmall, ...setup });
  const lookTwice = async (): Promise<void> => {
    // Each look may ask twice.
    for (let times = 0; times < 4; times += 1) {
      const before = looks;
      work.look();
      await expect.poll(() => looks, patience).toBeGreaterThan(before);
    }
  };
  await expect.poll(() => statusOf('film').state, patience).toBe('ready');
  isAway = true;
  await lookTwice();
  clock = time;
  await lookTwice();
  await work.close();
  expect(statusOf('film').state).toBe(state);
});

it('a conversion goes on while its original is read again, and ends with its original', async () => {
  let [looks, isGone, path] = [0, false, ''];
  const convert: Converter['convert'] = async (original, { signal }) => {
    path = original.path;
    await pause(10_000, undefined, { signal });
    return '';
  };
  const isUnread = (): boolean => {
    looks += 1;
    return path !== '';
  };
  const { work, statusOf } = await startWork({ films: ['film'], convert, isUnread, isGone: () => isGone });
  await expect.poll(() => path, patience).not.toBe('');
  for (let times = 0; times < 3; times += 1) {
    const before = looks;
    work.look();
    await expect.poll(() => looks, patience).toBeGreaterThan(before);
  }
  expect(statusOf('film').state).toBe('converting');
  isGone = true;
  rmSync(path);
  work.look();
  await expect.poll(() => statusOf('film').state, patience).toBe('queued');
});

it('a folder that cannot be created is no reason not to start', async () => {
  const context = mediaContext(temporaryFolder());
  // As where the disk takes no writes, which root would not notice.
  for (const name of ['renditions', 'copies']) writeFileSync(join(context.dirs.media, name), '');
  const [store, ledger] = [await openRenditionStore(context), await openLedger(context)];
  expect([store.originals(), ledger.all()]).toEqual([[], []]);
  await Promise.all([store.close(), ledger.close()]);
});

it('a rendition that the system cannot read at the start is kept', async () => {
  const context = mediaContext(temporaryFolder());
  const before = await openRenditionStore(context);
  const [original, file, away] = [hashOf(0), before.fileOf(hashOf(0)), join(context.dirs.data, 'away')];
  const entry = { profile: 'h264' as const, sha256: hashOf(1), size: 5, mediaType: 'video/mp4' };
  writeFileSync(away, 'small');
  await before.put(original, away, entry);
  await before.close();
  renameSync(file, away);
  // A link to itself: ELOOP.
  symlinkSync(file, file);
  const store = await openRenditionStore(context);
  expect(store.get(original)).toEqual(entry);
  await store.close();
  renameSync(away, file);
  const after = await openRenditionStore(context);
  expect(after.get(original)).toEqual(entry);
  await after.close();
});

it.each<[what: string, fault: Error, isLasting: boolean]>([
  ['a file that is damaged is known to', new ConversionFault(reasons.damaged), true],
  ['a program that was killed is not known to', new ConversionFault(reasons.unknown, '', true), false],
  ['another part of the box is not known to', new Error('EMFILE'), false],
])('a failure for %s the next start', async (_, fault, isLasting) => {
  let runs = 0;
  const convert: Converter['convert'] = () => {
    runs += 1;
    return Promise.reject(fault);
  };
  const { work, statusOf, saved } = await startWork({ films: ['film'], convert });
  await expect.poll(() => statusOf('film').state, patience).toBe('failed');
  await work.close();
  expect([runs, saved().length]).toEqual([2, isLasting ? 1 : 0]);
});

it.each<[what: string, outputs: object[], reason: string, isCut: boolean]>([
  ['its reading was killed', [{ isCut: true }], reasons.unknown, true],
  ['its conversion was killed', [{ stderr: '  Stream #0:0: Video: hevc' }, { isCut: true }], reasons.unknown, true],
  ['it is damaged', [{ stderr: '  Stream #0:0: Video: hevc' }, {}], reasons.damaged, false],
  ['it is no film', [{}], reasons.damaged, false],
])('of a film is said that %s', async (_, outputs, message, isCut) => {
  const silent = { isDone: false, isCut: false, stdout: Buffer.alloc(0), stderr: '' };
  const run = async () => Object.assign({}, silent, outputs.shift());
  const converter = createConverter({
    ffmpeg: { find: async () => ({ path: 'ffmpeg' }) as never },
    confined: Object.assign(run, { isolates: async () => true, notes: () => [] }),
    options: { childEnvironment: { PATH: '', LANG: 'C' } } as never,
    runScript: run,
    tempo: testTempo,
  });
  const film = { path: '/film.mp4', mediaType: 'video/mp4', profile: 'h264' as const, duration: 1 };
  const work = { folder: '/none', isPlain: false, signal: new AbortController().signal, onProgress: () => {} };
  await expect(converter.convert(film, work)).rejects.toMatchObject({ message, isCut });
});

it.each<[how: string, isWriting: boolean, end: string]>([
  ['that moves its index to the front, silently, is waited for', true, 'made'],
  ['of which nothing is written any more is given up', false, reasons.slow],
])('a film %s', async (_, isWriting, end) => {
  const folder = temporaryFolder();
  const silent = { isDone: true, isCut: false, stdout: Buffer.alloc(0), stderr: '  Stream #0:0: Video: hevc' };
  const tempo = { ...testTempo, media: { ...testTempo.media, still: 200 } };
  const run = async ({ args, onOutput, signal }: Pick<Parameters<Confined>[0], 'args' | 'onOutput' | 'signal'>) => {
    const out = args.at(-1)?.replace('file:', '') ?? '';
    if (!out.startsWith(folder)) return silent;
    onOutput?.('out_time_us=1000000\n');
    for (let times = 1; times <= 20 && signal?.aborted === false; times += 1) {
      if (isWriting || times === 1) writeFileSync(out, 'x'.repeat(times));
      await pause(50);
    }
    return { ...silent, isDone: signal?.aborted === false };
  };
  const converter = createConverter({
    ffmpeg: { find: async () => ({ path: 'ffmpeg' }) as never },
    confined: Object.assign(run, { isolates: async () => true, notes: () => [] }),
    options: { childEnvironment: { PATH: '', LANG: 'C' } } as never,
    runScript: run,
    tempo,
  });
  const film = { path: '/film.mp4', mediaType: 'video/mp4', profile: 'h264' as const, duration: 1 };
  const work = { folder, isPlain: false, signal: new AbortController().signal, onProgress: () => {} };
  const ended = converter.convert(film, work).then(
    () => 'made',
    (error: Error) => error.message,
  );
  expect(await ended).toBe(end);
});

/** Two boxes with one film, which the first took; the converters of both do the same. */
const startPair = () => {
  const boxes = new Map<string, Awaited<ReturnType<typeof startWork>>['work']>();
  const tries: string[] = [];
  let fault: Error | null = null;
  const start = async (nodeId: string) => {
    const convert: Converter['convert'] = (original, work) => {
      tries.push(nodeId);
      return fault === null ? makeSmall(original, work) : Promise.reject(fault);
    };
    const askSite: Work['askSite'] = async (originals) => {
      const others = [...boxes].filter(([id]) => id !== nodeId);
      const answers = others.map(async ([id, work]) =>
        (await work.offer(originals)).map((each) => ({ ...each, nodeId: id, from: id })),
      );
      return { holders: (await Promise.all(answers)).flat() };
    };
    const fetch: Work['downloads']['fetch'] = async (_, store) => {
      const path = join(temporaryFolder(), 'part');
      writeFileSync(path, 'small');
      return store({} as never, { path, discard: async () => {} } as never);
    };
    const isUpload = nodeId === 'first';
    const { work, statusOf } = await startWork({
      ...{ films: ['film'], convert, askSite, fetch, nodeId, isUpload, hasOwner: true },
    });
    boxes.set(nodeId, work);
    const stop = async (): Promise<void> => {
      boxes.delete(nodeId);
      await work.close();
    };
    return { stop, state: () => statusOf('film').state, status: () => statusOf('film') };
  };
  const failWith = (error: Error | null): void => {
    fault = error;
    tries.length = 0;
  };
  return { start, tries, failWith };
};

const killed = new ConversionFault(reasons.unknown, '', true);

const withoutFilter = new ConversionFault(reasons.damaged, "No such filter: 'zscale'");

it.each<[how: string, faults: readonly ConversionFault[], isPlain: readonly boolean[]]>([
  ['was killed keeps its colours', [killed], [false, false]],
  ['took too long keeps its colours', [new ConversionFault(reasons.slow)], [false, false]],
  [
    'had no room keeps its colours',
    [new ConversionFault(reasons.damaged, 'Error writing trailer: No space left on device')],
    [false, false],
  ],
  ['lacked a filter does without it', [withoutFilter], [false, true]],
  ['was killed, and lacked a filter then, does without it', [killed, withoutFilter], [false, false, true]],
  ['fails without the filter too has failed', [withoutFilter, withoutFilter], [false, true]],
])('a conversion that %s', async (_, faults, isPlain) => {
  const plain: boolean[] = [];
  const convert: Converter['convert'] = (original, work) => {
    const fault = faults[plain.length];
    plain.push(work.isPlain);
    return fault === undefined ? makeSmall(original, work) : Promise.reject(fault);
  };
  const { statusOf } = await startWork({ films: ['film'], convert });
  const end = faults.length < isPlain.length ? 'ready' : 'failed';
  await expect.poll(() => statusOf('film').state, patience).toBe(end);
  expect(plain).toEqual(isPlain);
});

it('what was killed on one box is tried on the other, and by each again after a restart', async () => {
  const { start, tries, failWith } = startPair();
  failWith(killed);
  const [first, second] = [await start('first'), await start('second')];
  for (const { status } of [first, second])
    await expect.poll(status, patience).toMatchObject({ state: 'failed', reason: reasons.unknown });
  await pause(3 * testTempo.media.convert);
  expect(tries).toEqual(['first', 'first', 'second', 'second']);
  failWith(null);
  await first.stop();
  const restarted = await start('first');
  for (const { state } of [restarted, second]) await expect.poll(state, patience).toBe('ready');
  expect(tries).toEqual(['first']);
});

it('what was killed on the box that took it is fetched from the one that made it', async () => {
  const { start, tries, failWith } = startPair();
  failWith(killed);
  const first = await start('first');
  await expect.poll(first.state, patience).toBe('failed');
  failWith(null);
  const second = await start('second');
  for (const { state } of [first, second]) await expect.poll(state, patience).toBe('ready');
  expect(tries).toEqual(['second']);
});

it('that a file is damaged is taken over from another box, which is not told it back', async () => {
  const { start, tries, failWith } = startPair();
  failWith(new ConversionFault(reasons.damaged));
  const [first, second] = [await start('first'), await start('second')];
  await expect.poll(second.status, patience).toMatchObject({ state: 'failed', reason: reasons.damaged });
  failWith(null);
  await first.stop();
  // Without what it has stored.
  const anew = await start('first');
  await expect.poll(anew.state, patience).toBe('ready');
  expect([tries, second.state()]).toEqual([['first'], 'failed']);
});

/** Another box that took an upload. */
const taker = { isUpload: true, isAble: true, nodeId: 'other', from: '', reason: null, rendition: null };

/** A box that has made the renditions of all originals, each of 60 bytes. */
const madeThere = async (originals: readonly string[]) => ({
  holders: originals.map((original) => {
    const rendition = { profile: 'h264' as const, sha256: original, size: 60, mediaType: 'video/mp4' };
    return { ...taker, original, state: 'ready' as const, rendition };
  }),
});

it.each([
  [true, ['first', 'second'], null],
  [false, ['first'], reasons.room],
])('what another box has made takes room of others only if it is named: %s', async (isNamed, names, reason) => {
  const films = ['first', 'second'];
  const fetched: string[] = [];
  let stop = (): void => {};
  const stopped = new Promise<null>((resolve) => {
    stop = () => resolve(null);
  });
  const fetch: Work['downloads']['fetch'] = ({ sha256 }) => {
    fetched.push(films[Number(sha256)] ?? '');
    return stopped;
  };
  const requireRoom: Work['requireRoom'] = async (bytes, mayEvict) => {
    if (bytes > 100 && !mayEvict) throw new CodedError('insufficient_storage');
  };
  const { statusOf } = await startWork({ films, convert: makeSmall, askSite: madeThere, fetch, requireRoom, isNamed });
  onTestFinished(stop);
  await expect.poll(() => [fetched, statusOf('second').reason], patience).toEqual([names, reason]);
  await pause(3 * testTempo.media.askAgain);
  expect(fetched).toEqual(names);
});

it.each([
  ['', new Error('the server answers 404.'), reasons.fetch('the server answers 404')],
  [' for lack of room', new Error('full', { cause: new CodedError('insufficient_storage') }), reasons.room],
])(
  'a rendition that cannot be fetched%s is asked for again after pauses that double, and people are told',
  async (...row) => {
    const [, fault, told] = row;
    let [clock, looks, attempts] = [0, 0, 0];
    const askSite: Work['askSite'] = async (originals) => {
      looks += 1;
      return madeThere(originals);
    };
    const fetch = (): Promise<never> => {
      attempts += 1;
      return Promise.reject(fault);
    };
    const { statusOf } = await startWork({
      films: ['film'],
      convert: makeSmall,
      askSite,
      fetch,
      monotonicNow: () => clock,
    });
    const counted: [attempts: number, state: string, reason: string | null][] = [];
    const { transfer } = testTempo.peers;
    for (const time of [0, transfer - 1, transfer, 3 * transfer - 1, 3 * transfer]) {
      clock = time;
      const before = looks;
      await vi.waitUntil(() => looks > before + 2, patience);
      const { state, reason } = statusOf('film');
      counted.push([attempts, state, reason]);
    }
    expect(counted).toEqual([
      [1, 'queued', null],
      [1, 'queued', null],
      ...[2, 2, 3].map((times) => [times, 'queued', told]),
    ]);
  },
);

it('what waits for another box holds nothing of this one up, and each is asked for in turn', async () => {
  const films = Array.from({ length: 500 }, (_, index) => `film ${index}`);
  const own = hashOf(499);
  const asked = new Set<string>();
  let longest = 0;
  const askSite: Work['askSite'] = async (originals) => {
    for (const original of originals) asked.add(original);
    longest = Math.max(longest, originals.length);
    const others = originals.filter((original) => original !== own);
    return {
      holders: others.map((original) => ({ ...taker, original, state: 'converting' as const })),
    };
  };
  const { statusOf } = await startWork({ films, convert: makeSmall, askSite });
  await expect.poll(() => statusOf('film 499').state, patience).toBe('ready');
  await expect.poll(() => asked.size, patience).toBe(500);
  expect(longest).toBe(200);
  expect(statusOf('film 0').state).toBe('queued');
});

it('what another box has taken is left to it while it starts, and is converted here once that takes too long', async () => {
  const begun: string[] = [];
  const convert: Converter['convert'] = (original, work) => {
    begun.push(basename(original.path));
    return makeSmall(original, work);
  };
  let isBack = false;
  let asked = 0;
  // It answers, and knows nothing of its files yet; then of one.
  const askSite: Work['askSite'] = async () => {
    asked += 1;
    return { holders: isBack ? [{ ...taker, original: hashOf(0), state: 'queued' as const }] : [] };
  };
  let clock = 0;
  const setup = { films: ['there', 'lost'], convert, askSite, hasOwner: true, monotonicNow: () => clock };
  const { statusOf } = await startWork(setup);
  const untilAskedAgain = (): Promise<boolean> => {
    const before = asked;
    return vi.waitUntil(() => asked > before + 2, patience);
  };
  await untilAskedAgain();
  clock = testTempo.media.owner - 1;
  await untilAskedAgain();
  expect([begun, statusOf('there').state, statusOf('lost').state]).toEqual([[], 'queued', 'queued']);
  isBack = true;
  await untilAskedAgain();
  clock = 2 * testTempo.media.owner;
  await expect.poll(() => statusOf('lost').state, patience).toBe('ready');
  await untilAskedAgain();
  expect([begun, statusOf('there').state]).toEqual([['lost'], 'queued']);
});

it('a film that cannot be read here is what another box says of it', async () => {
  const films = ['plain', 'coming', 'failed', 'blind'];
  const holders = [
    { ...taker, original: hashOf(1), state: 'queued' as const },
    { ...taker, original: hashOf(2), state: 'failed' as const, reason: 'It is damaged.' },
    { ...taker, original: hashOf(3), state: 'queued' as const, isAble: false },
  ];
  const askSite = async () => ({ holders });
  const { work, statusOf } = await startWork({ films, convert: makeSmall, askSite, isBlind: true });
  const states = () => films.map((name) => statusOf(name).state);
  await expect.poll(states, patience).toEqual(['none', 'queued', 'failed', 'none']);
  expect(statusOf('failed').reason).toBe('It is damaged.');
  const offered = await work.offer(films.map((_, index) => hashOf(index)));
  expect(offered.map(({ state, isAble }) => [state, isAble])).toEqual(films.map(() => ['queued', false]));
  expect(work.counts().results).toMatchObject({ made: 0, failed: 0 });
});

it('loudness is measured where nothing is converted, too', async () => {
  let isMeasured = false;
  const rest: Work['rest'] = async () => async () => {
    isMeasured = true;
  };
  await startWork({ films: [], convert: makeSmall, options: { convert: false }, rest });
  await expect.poll(() => isMeasured, patience).toBe(true);
});
