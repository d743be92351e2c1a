/** What parts of the module receive, over folders that are removed with the test. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { MediaContext } from '../../service/media/context.ts';
import { createFolders } from '../../service/media/folders.ts';
import { createHasher } from '../../service/media/hasher.ts';
import { createGet } from '../../service/platform/outbound/get.ts';
import { testTempo } from '../support/tempo.ts';

interface Setup {
  /** The media directory; default: a folder of its own in `data`. */
  media?: string;
  uploads?: string;
  options?: Partial<MediaContext['options']>;
  get?: MediaContext['get'];
  /** A monotonic clock, in ms. */
  now?: () => number;
}

const defaults = {
  maxUploadBytes: 2 ** 31,
  mediaQuotaBytes: 2 ** 40,
  fetchBytesPerSecond: 0,
  fetchHours: null,
  timeZone: 'UTC',
};

export const mediaContext = (data: string, setup: Setup = {}) => {
  const { media = join(data, 'media'), uploads = join(data, 'uploads'), options, get = createGet() } = setup;
  for (const folder of [uploads, media]) mkdirSync(folder, { recursive: true });
  const hasher = createHasher();
  onTestFinished(() => hasher.close());
  const log = pino({ level: 'silent' });
  return {
    options: { ...defaults, ...options } as MediaContext['options'],
    dirs: { data, uploads, media } as MediaContext['dirs'],
    log,
    logs: () => log,
    get,
    random: Math.random,
    reserve: { release: async () => undefined },
    tempo: testTempo,
    now: Date.now,
    folders: createFolders([uploads, media, join(media, 'copies')], setup.now),
    hasher,
    release: async () => {},
  } satisfies MediaContext;
};
