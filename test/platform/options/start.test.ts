/** A start that fails half-way: nothing of it stays, however often it is tried. */
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../../service/index.ts';
import { readOptions } from '../../../service/platform/options/index.ts';
import { patience } from '../../support/observe.ts';
import { temporaryFolder } from '../../support/service.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** Timers, watchers, processes, threads and connections that come from now on; `end`: answers what is left of them. */
const watchResources = (): (() => () => string[]) => {
  const kinds = /^(Timeout|STATWATCHER|FSEVENTWRAP|PROCESSWRAP|WORKER|PIPE|TCP|UDP|HTTPCLIENTREQUEST)/;
  const open = new Map<number, string>();
  let isWatching = true;
  const hook = createHook({
    init: (id, kind) => {
      if (isWatching && kinds.test(kind)) open.set(id, kind);
    },
    destroy: (id) => void open.delete(id),
  }).enable();
  onTestFinished(() => void hook.disable());
  return () => {
    isWatching = false;
    return () => [...open.values()];
  };
};

/** The files in a folder that this process has open, and the folder itself, where the system tells. */
const openFilesIn = (folder: string): string[] => {
  const list = '/proc/self/fd';
  if (!existsSync(list)) return [];
  return readdirSync(list).flatMap((fd) => {
    try {
      const file = readlinkSync(join(list, fd));
      return file.startsWith(folder) ? [file] : [];
    } catch {
      // The list itself, which is closed by now.
      return [];
    }
  });
};

const content = {
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'a' }],
  playlists: [{ id: 'a', slides: [{ kind: 'image', media_url: 'http://127.0.0.1:9/picture.png' }] }],
  apiSources: [{ id: 'weather', url: 'http://127.0.0.1:9/weather' }],
};

interface Trouble {
  port?: number;
  rendererDir?: string;
}

test.each<[string, (dataDir: string) => Trouble | Promise<Trouble>, RegExp]>([
  [
    'a file where the folder of media should be',
    (dataDir) => {
      writeFileSync(join(dataDir, 'media'), '');
      return {};
    },
    /EEXIST|ENOTDIR/,
  ],
  ['pages that are not built', (dataDir) => ({ rendererDir: join(dataDir, 'nowhere') }), /ENOENT/],
  [
    'a port that is taken',
    async () => {
      const other = createServer().listen(0, '127.0.0.1');
      onTestFinished(() => void other.close());
      await once(other, 'listening');
      return { port: (other.address() as AddressInfo).port };
    },
    /^Port \d+ is taken/,
  ],
])('%s', async (_, prepare, expected) => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'content.json'), JSON.stringify(content));
  const { port = 0, rendererDir = join(root, 'dist', 'renderer') } = await prepare(dataDir);
  const start = () =>
    startService(
      readOptions({
        env: {
          PATH: process.env.PATH,
          SIGNAGE_DATA_DIR: dataDir,
          SIGNAGE_HOST: '127.0.0.1',
          SIGNAGE_PORT: String(port),
          SIGNAGE_PEERS: 'http://127.0.0.1:9',
        },
      }),
      { log: pino({ level: 'silent' }), rendererDir, resourcesDir: join(root, 'resources') },
    );
  // What is made once for a process is made by now.
  await expect(start()).rejects.toThrow(expected);
  const end = watchResources();
  for (const time of [1, 2]) await expect(start(), `start ${time}`).rejects.toThrow(expected);
  await expect.poll(end(), patience).toEqual([]);
  expect(openFilesIn(dataDir)).toEqual([]);
});

test.skipIf(process.platform !== 'linux')('a data directory that takes no files is named as such', async () => {
  // Nobody, root included, makes folders there.
  const options = readOptions({ env: { SIGNAGE_DATA_DIR: '/sys/kernel', SIGNAGE_HOST: '127.0.0.1' } });
  const ports = { log: pino({ level: 'silent' }), rendererDir: join(root, 'dist', 'renderer'), resourcesDir: root };
  await expect(startService(options, ports)).rejects.toThrow(
    /^SIGNAGE_DATA_DIR: "\/sys\/kernel" is not valid; expected a folder that the player may write to \(E\w+\)$/,
  );
});
