/** Uploads of 1 GiB: their speed against plain Node pipelines that write the same bytes, and the service's memory. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Report } from './harness/report.ts';
import { startBenchService } from './service.ts';

const MIB = 1024 ** 2;

/** Keeps what it is sent. `/flushed` answers once the bytes are on the disk, as the service does; `/` does not wait. */
const plainServer = `
  import { createWriteStream } from 'node:fs';
  import { createServer } from 'node:http';
  import { pipeline } from 'node:stream/promises';
  const server = createServer(async (request, response) => {
    await pipeline(request, createWriteStream(process.argv[1], { flush: request.url === '/flushed' }));
    response.end();
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

const block = Buffer.alloc(MIB, 'signage');

/** Sends `mebibytes` MiB. @returns MiB/s, to the answer */
const upload = async (url: string, mebibytes: number): Promise<number> => {
  // What earlier rounds left to be written is not to be paid for by this one.
  execFileSync('sync');
  const begun = performance.now();
  const sending = request(url, { method: 'PUT', headers: { 'Content-Length': mebibytes * MIB } });
  Readable.from(Array.from({ length: mebibytes }, () => block)).pipe(sending);
  const [response] = await once(sending, 'response');
  await once(response.resume(), 'end');
  if (response.statusCode >= 300) throw new Error(`${url} answered ${response.statusCode}`);
  return (mebibytes * 1000) / (performance.now() - begun);
};

/** The most memory that a process ever held, as Linux tells it. */
const peakMemory = ({ pid }: ChildProcess): string => {
  const peak = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return `${Math.round(Number(peak) / 1024)} MiB`;
};

/** Needs Linux and 2 GiB of room. */
export const benchUploads = async ({ compare, note }: Report): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-bench-'));
  const service = await startBenchService();
  const plain = spawn(process.execPath, ['--input-type=module', '-e', plainServer, join(folder, 'plain.bin')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [port] = await once(plain.stdout, 'data');
    const plainUrl = `http://127.0.0.1:${String(port).trim()}`;
    const ours = `${service.url}/api/media/bench.bin`;

    const idle = peakMemory(service.process);
    await upload(ours, 64);
    const small = peakMemory(service.process);
    await compare('Uploads of 1 GiB; speed', 'MiB/s', {
      'PUT /api/media': () => upload(ours, 1024),
      'plain pipeline': () => upload(`${plainUrl}/`, 1024),
      'plain pipeline, flushed to the disk': () => upload(`${plainUrl}/flushed`, 1024),
    });
    const large = peakMemory(service.process);
    note(`Peak memory of the service: idle ${idle}, after 64 MiB ${small}, after 1 GiB ${large}.`);
  } finally {
    plain.kill();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
