/** Folders of HLS files, and how a client waits for them. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Memory-backed storage for those who write files, as the fastest there is. */
export const scratch = () => mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : '/tmp', 'streams-bench-'));

/** Asks until the answer is a manifest with a segment in it. */
export const untilManifest = async (url: string): Promise<void> => {
  for (;;) {
    const text = await fetch(url).then((response) => response.text());
    if (text.includes('#EXTINF')) return;
    await sleep(5);
  }
};

/** Serves a folder: what nginx would do for ffmpeg's files. */
export const serveFolder = async (folder: string) => {
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url ?? '', 'http://x').pathname);
    if (existsSync(path)) response.end(readFileSync(path));
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
