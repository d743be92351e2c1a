/** Media as a page has them, and how loud they are played. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { createMediaCache, type MediaCache, prefetch } from '../../renderer/player/media-cache.ts';
import type { SlideContext, SlideView } from '../../renderer/player/slides/slide.ts';
import { CodedError, type ErrorCode } from '../../service/contract/errors.ts';
import { errorAnswer } from '../../service/http/answer.ts';
import { slide } from './scene.ts';

it.each<[loudness: string | null, gain: number]>([
  // -23 LUFS is what all are played at, and nothing is made louder than it is.
  ['-40.0', 1],
  ['-23.0', 1],
  ['-70.0', 1],
  [null, 1],
  ['-13.0', 10 ** (-10 / 20)],
  ['-3.0', 10 ** (-20 / 20)],
])('a film of %s LUFS is played at a share of %d of its volume', async (loudness, gain) => {
  const headers = loudness === null ? {} : { 'x-signage-loudness': loudness };
  vi.stubGlobal('fetch', async () => new Response('film', { headers }));
  onTestFinished(() => void vi.unstubAllGlobals());
  const { resolve, gainOf } = createMediaCache();
  for (const url of ['/media/film.mp4', 'https://cdn.example.com/film.mp4']) {
    await resolve(url);
    expect(gainOf(url)).toBeCloseTo(gain);
  }
});

it.each<[answer: number | ErrorCode, url: string, isKept: boolean]>([
  [429, '/media/menu.jpg', true],
  [500, '/media/menu.jpg', true],
  [502, '/media/menu.jpg', true],
  [503, '/media/menu.jpg', true],
  [504, '/media/menu.jpg', true],
  ['storage_unavailable', '/media/menu.jpg', true],
  ['media_not_ready', '/media/menu.jpg', false],
  [404, '/media/menu.jpg', false],
  [404, 'https://cdn.example.com/menu.jpg', true],
  ['media_not_ready', 'https://cdn.example.com/menu.jpg', true],
])('where a request is answered %s, %s stays as the page has it: %s', async (answer, url, isKept) => {
  const { status, body } =
    typeof answer === 'number' ? { status: answer, body: '' } : errorAnswer('/media/menu.jpg', new CodedError(answer));
  const answers = [new Response('menu'), new Response(body, { status })];
  vi.stubGlobal('fetch', async () => answers.shift());
  onTestFinished(() => void vi.unstubAllGlobals());
  const { resolve } = createMediaCache();
  const address = await resolve(url);
  expect(await resolve(url).catch(() => null)).toBe(isKept ? address : null);
});

it.each([
  ['is that of a rendition of what is on', '/media/film.mp4', '"film"', '"film"'],
  ['is that of a rendition of another file', '/media/film.mp4', '"other"', '"rendition"'],
  ['is that of a rendition of what is on', 'https://cdn.example.com/film.mp4', '"film"', '"film"'],
])('the tag of a medium that now %s (%s)', async (_, url, original, expected) => {
  const answers = [
    new Response('film', { headers: { ETag: '"film"' } }),
    new Response('small', { headers: { ETag: '"rendition"', 'x-signage-rendition': 'h264' } }),
    new Response(null, { headers: { ETag: original } }),
    new Response('small', { headers: { ETag: '"rendition"', 'x-signage-rendition': 'h264' } }),
  ];
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path);
    return answers.shift();
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { resolve, versionOf, revalidate } = createMediaCache();
  await resolve(url);
  expect(versionOf(url)).toBe('"film"');
  expect(await revalidate(url, '"film"')).toBe(expected);
  expect(asked).toHaveLength(3);
  // Only the service knows the original of a remote medium.
  expect(new Set(asked).size).toBe(1);
  expect(await revalidate(url, null)).toBe('"rendition"');
});

it('a medium of which it is told again and again is fetched once more, not each time', async () => {
  let requests = 0;
  vi.stubGlobal('fetch', async () => {
    requests += 1;
    return new Response('film', { headers: { ETag: `"${requests}"` } });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { revalidate } = createMediaCache();
  const tags = await Promise.all([1, 2, 3, 4, 5].map(() => revalidate('/media/film.mp4', null)));
  expect(new Set(tags)).toEqual(new Set(['"1"', '"2"']));
  expect(requests).toBe(2);
});

/** Each medium has 60 MiB, so that the cache holds eight of them. Returns the addresses that were made and revoked. */
const stubLargeMedia = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.stubGlobal('fetch', async () => new Response(null));
  vi.stubGlobal('Blob', function Blob() {
    return { size: 60 * 1024 ** 2 };
  });
  const made: string[] = [];
  const revoked: string[] = [];
  const createObjectURL = (): string => {
    made.push(`blob:${made.length + 1}`);
    return `blob:${made.length}`;
  };
  vi.stubGlobal('URL', { createObjectURL, revokeObjectURL: (address: string) => revoked.push(address) });
  onTestFinished(() => void vi.unstubAllGlobals());
  return { made, revoked };
};

it('media that do not all fit are fetched ahead once, as many as fit; what was asked for last is evicted last', async () => {
  const { made, revoked } = stubLargeMedia();
  const cache = createMediaCache();
  const slides = Array.from({ length: 12 }, (_, at) =>
    slide(`${at}`, { kind: 'image', media_url: `/media/${at}.jpg` }),
  );
  for (let pass = 0; pass < 3; pass += 1) await prefetch(slides, cache, () => true);
  expect(made).toHaveLength(8);
  await cache.resolve('/media/0.jpg');
  await cache.resolve('/media/11.jpg');
  await vi.advanceTimersByTimeAsync(61_000);
  expect(revoked).toEqual(['blob:2']);
});

it('a medium that the page has on all the time is not evicted, although it is the oldest', async () => {
  const { revoked } = stubLargeMedia();
  const { resolve, resolveAtOnce } = createMediaCache(() => 'blob:1');
  for (let index = 1; index <= 10; index += 1) await resolve(`/media/${index}.jpg`);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(revoked).toEqual(['blob:2', 'blob:3']);
  expect(await resolveAtOnce('/media/1.jpg')).toBe('blob:1');
});

/** A slide that loads the medium it shows. Returns its view and the slides of 12 other media. */
const openFilm = ({ holding, resolve }: MediaCache) => {
  const film = slide('film', { kind: 'video', media_url: '/media/film.mp4#t=5' });
  const create = holding(({ media }) => {
    const view: Pick<SlideView, 'prepare' | 'destroy'> = {
      prepare: async () => void (await media('/media/film.mp4#t=5')),
      destroy() {},
    };
    return view as SlideView;
  });
  const view = create({ slide: film, media: resolve } as SlideContext);
  const others = Array.from({ length: 12 }, (_, at) =>
    slide(`${at}`, { kind: 'image', media_url: `/media/${at}.jpg` }),
  );
  return { view, others, prepare: () => view.prepare(new AbortController().signal) };
};

it('a film is not evicted while its view is there, and takes its share of what is fetched ahead', async () => {
  const { made, revoked } = stubLargeMedia();
  const cache = createMediaCache();
  const { view, others, prepare } = openFilm(cache);
  await prepare();
  await prefetch(others, cache, () => true);
  expect(made).toHaveLength(8);
  for (const { media_url } of others) await cache.resolve(media_url ?? '');
  await vi.advanceTimersByTimeAsync(300_000);
  expect(revoked).not.toContain('blob:1');
  expect(await cache.resolve('/media/film.mp4')).toBe('blob:1');
  view.destroy();
  for (const { media_url } of others) await cache.resolve(media_url ?? '');
  await vi.advanceTimersByTimeAsync(61_000);
  expect(revoked).toContain('blob:1');
});

it('a film that is replaced under its name can be read until its view is destroyed', async () => {
  const { revoked } = stubLargeMedia();
  let tag = '"old"';
  vi.stubGlobal('fetch', async () => new Response(null, { headers: { ETag: tag } }));
  const cache = createMediaCache();
  const { view, prepare } = openFilm(cache);
  await prepare();
  tag = '"new"';
  expect(await cache.resolve('/media/film.mp4')).toBe('blob:2');
  await vi.advanceTimersByTimeAsync(300_000);
  expect(revoked).toEqual([]);
  view.destroy();
  await vi.advanceTimersByTimeAsync(61_000);
  expect(revoked).toEqual(['blob:1']);
  expect(vi.getTimerCount()).toBe(0);
});

it('a film that comes when its view is destroyed is not held', async () => {
  const { revoked } = stubLargeMedia();
  const cache = createMediaCache();
  const { view, others, prepare } = openFilm(cache);
  const late = prepare();
  view.destroy();
  await late;
  expect(cache.inUse()).toEqual([]);
  for (const { media_url } of others) await cache.resolve(media_url ?? '');
  await vi.advanceTimersByTimeAsync(61_000);
  expect(revoked).toContain('blob:1');
});

it('a medium has its new tag once the page has its new bytes', async () => {
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const answers = [
    new Response('old', { headers: { ETag: '"old"' } }),
    new Response(body.readable, { headers: { ETag: '"new"' } }),
  ];
  vi.stubGlobal('fetch', async () => answers.shift());
  onTestFinished(() => void vi.unstubAllGlobals());
  const { resolve, resolveAtOnce, versionOf } = createMediaCache();
  const before = await resolve('/media/menu.jpg');
  const fetched = resolve('/media/menu.jpg');
  await new Promise((resume) => setTimeout(resume, 5));
  expect([await resolveAtOnce('/media/menu.jpg'), versionOf('/media/menu.jpg')]).toEqual([before, '"old"']);
  await body.writable.close();
  expect([(await fetched) === before, versionOf('/media/menu.jpg')]).toEqual([false, '"new"']);
});

it('a film on a slow link is taken however long it takes, but not waited for once nothing more comes', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  /** So many parts, one every 20 s, and then the end; or no more. */
  const answer =
    (parts: number, hasEnd: boolean) =>
    async (_: string, { signal }: RequestInit) => {
      const body = new ReadableStream({
        start: (stream) => signal?.addEventListener('abort', () => stream.error(signal.reason)),
        pull: async (stream) => {
          await new Promise((resolve) => setTimeout(resolve, parts > 0 || hasEnd ? 20_000 : 1e9));
          if (parts === 0) return stream.close();
          parts -= 1;
          stream.enqueue(new TextEncoder().encode('part '));
        },
      });
      return new Response(body, { headers: { 'Content-Type': 'video/mp4' } });
    };
  onTestFinished(() => void vi.unstubAllGlobals());
  const taken: Blob[] = [];
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => `blob:${taken.push(blob as Blob)}`);
  onTestFinished(() => void vi.restoreAllMocks());

  vi.stubGlobal('fetch', answer(20, true));
  const slow = createMediaCache().resolve('/media/film.mp4');
  await vi.advanceTimersByTimeAsync(500_000);
  expect(await slow).toBe('blob:1');
  expect(taken.map(({ type, size }) => [type, size])).toEqual([['video/mp4', 100]]);

  vi.stubGlobal('fetch', answer(3, false));
  const stuck = createMediaCache()
    .resolve('/media/film.mp4')
    .catch(({ name }: Error) => name);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(await Promise.race([stuck, Promise.resolve('waits')])).toBe('AbortError');
});

it('what is shown instead of a stream is fetched ahead, and the stream is not', async () => {
  const slides = [
    { kind: 'stream', media_url: 'rtsp://camera/1', content: { fallback_media_url: '/media/away.jpg' } },
    { kind: 'stream', media_url: 'https://cdn.example.com/live.m3u8', content: null },
    { kind: 'image', media_url: '/media/menu.jpg', content: { fallback_media_url: '/media/not-of-images.jpg' } },
  ] as const;
  const fetched: string[] = [];
  const resolve = async (url: string): Promise<string> => `${fetched.push(url)}`;
  await prefetch(slides, { resolve }, () => true);
  expect(fetched).toEqual(['/media/away.jpg', '/media/menu.jpg']);
});
