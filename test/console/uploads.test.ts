/** The queue of uploads, without a browser. */
import { signal } from '@preact/signals';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Refusal, Unreachable, Unreadable } from '../../renderer/console/api/errors.ts';
import { mediumUrl } from '../../renderer/console/model/document.ts';
import { followFile, waitingSlides } from '../../renderer/console/model/edit.ts';
import type { MediaList } from '../../renderer/console/model/wire.ts';
import { createUploads } from '../../renderer/console/stores/uploads.ts';
import { patience } from '../support/observe.ts';

/** @param data what they answer; null: their script is not loaded */
const workers = (data: object | null = { sha256: 'a'.repeat(64) }): void => {
  vi.stubGlobal(
    'Worker',
    class extends EventTarget {
      postMessage(): void {
        this.dispatchEvent(data === null ? new Event('error') : Object.assign(new Event('message'), { data }));
      }
      terminate(): void {}
    },
  );
  onTestFinished(() => void vi.unstubAllGlobals());
};
const list = (...all: [filename: string, sha256: string][]) =>
  signal({ media: all.map(([filename, sha256]) => ({ filename, sha256 })) } as unknown as MediaList);
const storeOf = (media: ReturnType<typeof list>) => ({
  list: media,
  load: async () => undefined,
  hasFile: async (name: string, sha256: string) =>
    media.value.media.some((each) => each.filename === name && each.sha256 === sha256),
});
/** A page that is seen, whose screen stays on while locks are held. */
const createPage = () => {
  let isHidden = false;
  let locks = 0;
  const release = async (): Promise<void> => {
    locks -= 1;
  };
  const page = Object.defineProperty(new EventTarget(), 'hidden', { get: () => isHidden }) as Document;
  return {
    page,
    wakeLock: {
      request: async () => {
        locks += 1;
        return { release } as WakeLockSentinel;
      },
    },
    locks: () => locks,
    hide: (hidden: boolean): void => {
      isHidden = hidden;
      page.dispatchEvent(new Event('visibilitychange'));
    },
  };
};
const queueOf = (
  upload: Parameters<typeof createUploads>[0]['client']['upload'],
  media = list(),
  { page, wakeLock } = createPage(),
) => createUploads({ client: { upload }, media: storeOf(media), page, wakeLock });

test('a file whose name is that of another one by now gets the next name, and never replaces it', async () => {
  workers();
  const media = list();
  const asked: unknown[] = [];
  const upload = async (path: string, _: string, __: unknown, given?: object): Promise<Response> => {
    asked.push([path, given]);
    if (path.endsWith('hall-2.jpg')) return new Response();
    // Somebody was faster.
    media.value = list(['hall.jpg', 'b'.repeat(64)]).value;
    throw new Refusal(412, { code: 'precondition_failed' }, null);
  };
  const uploads = queueOf(upload, media);
  uploads.add([new File(['x'], 'hall.jpg')]);
  await expect
    .poll(() => uploads.list.value.map(({ state, file }) => [state, file.name]), patience)
    .toEqual([['done', 'hall-2.jpg']]);
  const condition = { headers: { 'If-None-Match': '*' } };
  expect(asked).toEqual(['hall', 'hall-2'].map((name) => [`/api/media/${name}.jpg`, condition]));
  expect(uploads.renamed.value).toEqual({ from: 'hall.jpg', to: 'hall-2.jpg' });
});

test.each(['hall.jpg', 'Grüße.jpg'])('a file that is there already is not sent: %s', async (name) => {
  workers();
  const upload = vi.fn();
  const media = list([name, 'a'.repeat(64)]);
  const uploads = queueOf(upload, media);
  // As a Mac names it.
  uploads.add([new File(['x'], name.normalize('NFD'))]);
  await expect.poll(() => uploads.list.value.map(({ state }) => state), patience).toEqual(['skipped']);
  expect(upload).not.toHaveBeenCalled();
});

test('a file whose answer was lost is not sent again', async () => {
  workers();
  const media = list();
  const upload = async (): Promise<Response> => {
    media.value = list(['hall.jpg', 'a'.repeat(64)]).value;
    throw new Refusal(412, { code: 'precondition_failed' }, null);
  };
  const uploads = queueOf(upload, media);
  uploads.add([new File(['x'], 'hall.jpg')]);
  await expect.poll(() => uploads.list.value.map(({ state }) => state), patience).toEqual(['skipped']);
  expect(uploads.renamed.value).toBe(null);
});

test.each([
  ['a file that can no longer be read is no fault of the box', { fault: 'NotFoundError' }, Unreadable],
  ['a page whose parts the box no longer has does not blame the file', null, Unreachable],
])('%s', async (_, answer, fault) => {
  workers(answer);
  const uploads = queueOf(vi.fn());
  uploads.add([new File(['x'], 'gone.jpg')]);
  await expect.poll(() => uploads.list.value.map(({ state }) => state), patience).toEqual(['failed']);
  expect(uploads.list.value[0]?.error).toBeInstanceOf(fault);
  uploads.add([new File(['y'], 'gone.jpg')]);
  expect(uploads.list.value).toHaveLength(1);
});

test('slides that wait for a file follow it to its other name, and those of the other file stay', () => {
  const slide = (id: string) => ({ id, kind: 'image', media_url: '/media/hall.jpg' });
  const content = (...ids: string[]) => ({ screens: [], playlists: [{ id: 'main', slides: ids.map(slide) }] });
  const [old, draft] = [content('old'), content('old', 'new')];
  const urls = followFile(draft, old, 'hall.jpg', 'hall-2.jpg').playlists?.[0]?.slides.map((each) => each.media_url);
  expect(urls).toEqual(['/media/hall.jpg', '/media/hall-2.jpg']);
  expect(followFile(draft, old, 'door.jpg', 'door-2.jpg')).toEqual(draft);
});

test('all else that was chosen for a file follows it too: logo, pictures of designs and of messages', () => {
  const content = (menu: string, others: object) => ({
    screens: [{ slug: 'hall', name: 'Hall', fallback_media_url: '/media/old.jpg' }],
    playlists: [{ id: 'main', slides: [{ id: 'menu', kind: 'template', content: { items: [{ picture: menu }] } }] }],
    templates: [{ id: 'board', html: '<img src="/media/hall.jpg">' }],
    ...others,
  });
  const chosen = (url: string) =>
    content(url, { style: { logo_url: url }, messages: [{ id: 'fire', media_url: url }] });
  const base = content('/media/old.jpg', {});
  const followed = followFile(chosen('/media/hall.jpg'), base, 'hall.jpg', 'hall-2.jpg');
  expect(followed).toEqual(chosen('/media/hall-2.jpg'));
});

test.each(['hall.jpg', 'Foto (1).jpg', "it's here!*.jpg", 'Grüße.jpg'])(
  'a slide waits for %s until it is there',
  (name) => {
    const slide = { kind: 'image', media_url: mediumUrl(name) };
    expect(waitingSlides([slide], [])).toEqual([slide]);
    expect(waitingSlides([slide], ['other.jpg', name])).toEqual([]);
  },
);

test('two files are sent at a time, and each that waits is signed when its turn comes', async () => {
  workers();
  const sent: (() => void)[] = [];
  const upload = (): Promise<Response> => new Promise((resolve) => sent.push(() => resolve(new Response())));
  const uploads = queueOf(upload);
  uploads.add(Array.from({ length: 5 }, (_, n) => new File(['x'], `${n}.txt`)));
  for (const count of [2, 3, 4, 5]) {
    await expect.poll(() => sent.length, patience).toBe(count);
    expect(uploads.list.value.filter(({ state }) => state === 'sending').length).toBe(2);
    sent[count - 2]?.();
  }
  sent.at(-1)?.();
  await expect.poll(() => uploads.list.value.every(({ state }) => state === 'done'), patience).toBe(true);
});

test.each([
  ['whose connection ends', new Unreachable('The box does not answer.')],
  ['that the box gives up', new Refusal(408, { code: 'request_timeout' }, null)],
])('an upload %s while the page is hidden is sent again once it is seen', async (_, fault) => {
  workers();
  const phone = createPage();
  const sent: { resolve(answer: Response): void; reject(error: unknown): void }[] = [];
  const upload = () => new Promise<Response>((resolve, reject) => sent.push({ resolve, reject }));
  const uploads = queueOf(upload, list(), phone);
  const states = () => uploads.list.value.map(({ state }) => state);
  uploads.add([new File(['x'], 'film.mp4')]);
  await expect.poll(() => sent.length, patience).toBe(1);
  phone.hide(true);
  sent[0]?.reject(fault);
  await new Promise(setImmediate);
  expect(sent.length).toBe(1);
  phone.hide(false);
  await expect.poll(() => sent.length, patience).toBe(2);
  // A page that is frozen learns of it when it is seen.
  phone.hide(true);
  phone.hide(false);
  sent[1]?.reject(fault);
  await expect.poll(() => sent.length, patience).toBe(3);
  sent[2]?.reject(fault);
  await expect.poll(states, patience).toEqual(['failed']);
  expect(uploads.list.value[0]?.error).toBe(fault);
});

test('in a tab that stays hidden an upload is sent again after a while, unless it is cancelled', async () => {
  workers();
  const tab = createPage();
  const sent: ((error: unknown) => void)[] = [];
  const uploads = queueOf(() => new Promise((_, reject) => sent.push(reject)), list(), tab);
  const state = () => uploads.list.value[0]?.state;
  uploads.add([new File(['x'], 'film.mp4')]);
  await expect.poll(() => sent.length, patience).toBe(1);
  tab.hide(true);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  sent[0]?.(new Unreachable('The box does not answer.'));
  await expect.poll(state, patience).toBe('waiting');
  vi.advanceTimersByTime(30_000);
  await expect.poll(() => sent.length, patience).toBe(2);
  sent[1]?.(new Unreachable('The box does not answer.'));
  await expect.poll(state, patience).toBe('waiting');
  uploads.cancel(1);
  await expect.poll(state, patience).toBe('cancelled');
  vi.advanceTimersByTime(30_000);
  await new Promise(setImmediate);
  expect(sent).toHaveLength(2);
});

test('the screen stays on while files are sent', async () => {
  workers();
  const phone = createPage();
  const sent: (() => void)[] = [];
  const uploads = queueOf(() => new Promise((resolve) => sent.push(() => resolve(new Response()))), list(), phone);
  expect(phone.locks()).toBe(0);
  uploads.add(['a.jpg', 'b.jpg'].map((name) => new File(['x'], name)));
  for (const count of [1, 2]) {
    await expect.poll(() => sent.length, patience).toBe(2);
    await expect.poll(phone.locks, patience).toBe(1);
    sent[count - 1]?.();
    await expect.poll(() => uploads.list.value.filter(({ state }) => state === 'done').length, patience).toBe(count);
  }
  await expect.poll(phone.locks, patience).toBe(0);
});
