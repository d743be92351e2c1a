/** Several requests in a row on one connection. */
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { startTestService } from '../support/service.ts';
import { connectTo, hostLine } from './raw.ts';

/** How many descriptors of this process are of a file (proc(5)). */
const openCount = (path: string): number =>
  readdirSync('/proc/self/fd').filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
    } catch {
      return false;
    }
  }).length;

test.runIf(process.platform === 'linux')('a lost connection closes the files of all its requests', async () => {
  const service = await startTestService({ content: lobby });
  const file = join(service.dataDir, 'uploads', 'large.bin');
  writeFileSync(file, Buffer.alloc(32 * 1024 ** 2));
  const socket = await connectTo(service.url);
  socket.pause();
  socket.write(`GET /media/large.bin HTTP/1.1\r\n${hostLine(service.url)}\r\n\r\n`.repeat(12));
  await expect.poll(() => openCount(file), patience).toBeGreaterThan(1);
  socket.destroy();
  await expect.poll(() => openCount(file), patience).toBe(0);
});
