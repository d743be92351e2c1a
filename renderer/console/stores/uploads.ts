/** Uploads: two at a time, so that each has a connection at once (a signature lives 30 s), hashed first, skipped if the box has the file already. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { Client } from '../api/client.ts';
import { isCode, Unloaded, Unreachable, Unreadable } from '../api/errors.ts';
import type { HashMessage } from './hash-worker.ts';
import type { MediaStore } from './media.ts';

export type UploadState = 'waiting' | 'reading' | 'sending' | 'done' | 'skipped' | 'failed' | 'cancelled';

export interface Upload {
  id: number;
  file: File;
  state: UploadState;
  /** Bytes that were read or sent, by the state. */
  progress: number;
  /** Bytes a second. */
  speed: number;
  error: unknown;
}

export type Uploads = ReturnType<typeof createUploads>;

interface Dependencies {
  client: Pick<Client, 'upload'>;
  media: Pick<MediaStore, 'list' | 'load' | 'hasFile'>;
  page: Pick<Document, 'hidden' | 'addEventListener'>;
  /** Undefined where the page comes by http. */
  wakeLock: Pick<WakeLock, 'request'> | undefined;
}

const AT_ONCE = 2;
/** Between attempts of a hidden page. */
const HIDDEN_MS = 30_000;
/** Names that are tried for a file. */
const MOST_NAMES = 10;

/** `hall.jpg`, or `hall-2.jpg` if the name belongs to a different file. */
export const freeName = (name: string, isTaken: (name: string) => boolean): string => {
  const [, stem = name, end = ''] = /^(.+?)(\.[^.]*)?$/.exec(name) ?? [];
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${stem}-${count}${end}`;
    if (!isTaken(free)) return free;
  }
};

export const named = (file: File, name: string): File =>
  file.name === name ? file : new File([file], name, { type: file.type, lastModified: file.lastModified });

/** A file with the name that boxes give it: Macs compose letters of several characters. */
export const normalized = (file: File): File => named(file, file.name.normalize('NFC'));

/** Whether the same file can still arrive when it is sent again. */
export const isInterrupted = (error: unknown): boolean =>
  error instanceof Unreachable || isCode(error, 'request_timeout');

export const isActive = ({ state }: Pick<Upload, 'state'>): boolean =>
  ['waiting', 'reading', 'sending'].includes(state);

/** The SHA-256 of a file, hex, by a worker. @throws Unreadable, Unreachable, or what `abort` says */
export const hashOf = (file: File, abort: AbortSignal, onProgress: (bytes: number) => void): Promise<string> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./hash-worker.ts', import.meta.url), { type: 'module' });
    const end = (act: () => void): void => {
      worker.terminate();
      act();
    };
    abort.addEventListener('abort', () => end(() => reject(abort.reason as Error)));
    // Fires only if the script does not load: the worker reports an unreadable file by a message.
    worker.addEventListener('error', () => end(() => reject(new Unloaded('A part of the page was not loaded.'))));
    worker.addEventListener('message', ({ data }: MessageEvent<HashMessage>) => {
      if ('read' in data) onProgress(data.read);
      else if ('sha256' in data) end(() => resolve(data.sha256));
      else end(() => reject(new Unreadable(data.fault)));
    });
    worker.postMessage(file);
  });

const STILL_MS = 60_000;
/** Largest answer that is read, bytes. */
const MOST_ANSWER = 64 * 1024;

interface Sending {
  method?: 'PUT' | 'POST';
  headers: Readonly<Record<string, string>>;
  abort?: AbortSignal;
  /** After this time in which nothing was sent or received it has failed, ms. */
  stillMs?: number;
  onProgress(bytes: number): void;
}

/** Sends a file as a body: `fetch` reports no upload progress. @throws Unreachable, or the reason of `abort` */
export const sendFile = (
  path: string,
  file: File,
  { method = 'PUT', headers, abort, stillMs = STILL_MS, onProgress }: Sending,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.responseType = 'arraybuffer';
    request.open(method, path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    const giveUp = (): void => {
      reject(new Unreachable('The box does not answer.'));
      request.abort();
    };
    let still = setTimeout(giveUp, stillMs);
    const onMove = (): void => {
      clearTimeout(still);
      still = setTimeout(giveUp, stillMs);
    };
    request.addEventListener('loadend', () => clearTimeout(still));
    request.addEventListener('progress', ({ loaded }) => (loaded > MOST_ANSWER ? giveUp() : onMove()));
    request.upload.addEventListener('progress', ({ loaded }) => {
      onMove();
      onProgress(loaded);
    });
    request.addEventListener('load', () => {
      const lines = request
        .getAllResponseHeaders()
        .trim()
        .split(/[\r\n]+/);
      const answered = lines.map((line): [string, string] => {
        const [name = '', ...value] = line.split(':');
        return [name, value.join(':').trim()];
      });
      const body = [204, 205, 304].includes(request.status) ? null : (request.response as ArrayBuffer);
      resolve(new Response(body, { status: request.status, headers: answered }));
    });
    request.addEventListener('error', () => reject(new Unreachable('The box does not answer.')));
    request.addEventListener('abort', () => reject(abort?.reason as Error));
    abort?.addEventListener('abort', () => request.abort());
    request.send(file);
  });

export const createUploads = ({ client, media, page, wakeLock }: Dependencies) => {
  const list = signal<readonly Upload[]>([]);
  const renamed = signal<{ from: string; to: string } | null>(null);
  const aborts = new Map<number, AbortController>();
  let last = 0;
  /** How often the page was hidden or seen again. */
  let turns = 0;
  let lock: Promise<WakeLockSentinel | undefined> | undefined;

  /** Until the page is seen, or for a while: the other tabs of a PC go on sending. */
  const seen = (abort: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const over = new AbortController();
      const end = (): void => {
        over.abort();
        resolve();
      };
      page.addEventListener('visibilitychange', end, { signal: over.signal });
      abort.addEventListener('abort', end, { signal: over.signal });
      setTimeout(end, HIDDEN_MS);
    });

  /** A phone that locks itself stops sending. */
  const stayAwake = (): void => {
    void lock?.then((held) => held?.release());
    lock = aborts.size === 0 ? undefined : wakeLock?.request('screen').catch(() => undefined);
  };
  page.addEventListener('visibilitychange', () => {
    turns += 1;
    // A hidden page has lost it.
    if (!page.hidden) stayAwake();
  });

  const change = (id: number, changed: Partial<Upload>): void => {
    list.value = list.value.map((upload) => (upload.id === id ? { ...upload, ...changed } : upload));
  };

  /** Sends a file, unless the box has another one of this name. @throws Refusal `precondition_failed` */
  const send = async (id: number, file: File, sha256: string, abort: AbortSignal): Promise<void> => {
    const path = `/api/media/${encodeURIComponent(file.name)}`;
    const since = performance.now();
    change(id, { state: 'sending', progress: 0 });
    const put = (headers: Record<string, string>): Promise<Response> =>
      sendFile(path, file, {
        headers,
        abort,
        onProgress: (progress) =>
          change(id, { progress, speed: (progress / Math.max(1, performance.now() - since)) * 1000 }),
      });
    // It may have waited for too long in the browser, and is sent once more then.
    await client.upload(path, sha256, put, { headers: { 'If-None-Match': '*' } });
  };

  const run = async ({ id, file: given }: Upload): Promise<void> => {
    const abort = new AbortController();
    aborts.set(id, abort);
    const before = turns;
    try {
      change(id, { state: 'reading', progress: 0, error: null });
      const sha256 = await hashOf(given, abort.signal, (progress) => change(id, { progress }));
      const refused = new Set<string>();
      for (let file = given; ; ) {
        if (await media.hasFile(file.name, sha256)) return change(id, { state: 'skipped' });
        try {
          await send(id, file, sha256, abort.signal);
          change(id, { state: 'done', progress: file.size });
          return void media.load();
        } catch (error) {
          if (!isCode(error, 'precondition_failed') || refused.size === MOST_NAMES) throw error;
          const { name } = file;
          refused.add(name);
          await media.load();
          // It may be this very file, whose answer was lost.
          if (await media.hasFile(name, sha256)) continue;
          const others = [
            ...(media.list.value?.media.map(({ filename }) => filename) ?? []),
            ...list.value.map((upload) => upload.file.name),
          ];
          const taken = new Set([...refused, ...others]);
          file = named(
            given,
            freeName(given.name, (each) => taken.has(each)),
          );
          change(id, { file });
          renamed.value = { from: name, to: file.name };
        }
      }
    } catch (error) {
      if (abort.signal.aborted) return change(id, { state: 'cancelled' });
      // A phone stops what hidden pages send, and may tell a page only once it is seen.
      if (!isInterrupted(error) || !(page.hidden || turns !== before)) return change(id, { state: 'failed', error });
      change(id, { state: 'waiting' });
      if (page.hidden) await seen(abort.signal);
      if (abort.signal.aborted) change(id, { state: 'cancelled' });
    } finally {
      aborts.delete(id);
      next();
    }
  };

  const next = (): void => {
    while (aborts.size < AT_ONCE) {
      const upload = list.value.find(({ id, state }) => state === 'waiting' && !aborts.has(id));
      if (upload === undefined) break;
      void run(upload);
    }
    stayAwake();
  };

  return {
    list: list as ReadonlySignal<readonly Upload[]>,
    /** The last file that got a new name, since somebody else has uploaded a different one under its own. */
    renamed: renamed as ReadonlySignal<{ from: string; to: string } | null>,
    add: (files: Iterable<File>): void => {
      const added = Array.from(files, (file): Upload => {
        last += 1;
        return { id: last, file: normalized(file), state: 'waiting', progress: 0, speed: 0, error: null };
      });
      // A file that is chosen again takes the place of the one that did not arrive.
      const names = new Set(added.map(({ file }) => file.name));
      const others = list.value.filter(({ state, file }) => !/failed|cancelled/.test(state) || !names.has(file.name));
      list.value = [...others, ...added];
      next();
    },
    cancel: (id: number): void => {
      const abort = aborts.get(id);
      if (abort === undefined) change(id, { state: 'cancelled' });
      else abort.abort(new Error('cancelled'));
    },
    retry: (id: number): void => {
      change(id, { state: 'waiting' });
      next();
    },
    /** Removes finished uploads from the list. */
    clear: (): void => {
      list.value = list.value.filter(isActive);
    },
  };
};
