/** Uploads of 1 GiB: their speed against plain Node pipelines that write the same bytes, and the service's memory. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

const MIB = 1024 ** 2;
const ROUNDS = 7;
const LARGE = 1024 * MIB;
const SMALL = 64 * MIB;

/** Takes what it is sent, in one line: `flush` asks for the bytes to be on the disk before the answer, as ours are. */
const plainServer = `
  import { createWriteStream } from 'node:fs';
  import { createServer } from 'node:http';
  import { pipeline } from 'node:stream/promises';
  const server = createServer(async (req, res) => {
    const flush = req.url === '/flushed';
    await pipeline(req, createWriteStream(process.argv[1], { flush }));
    res.end();
  }).listen(0, '127.0.0.1', () => console.log('listening on http://127.0.0.1:' + server.address().port));
`;

const block = Buffer.alloc(MIB, 'signage');

const bodyOf = (size: number): Readable =>
  Readable.from(
    (function* () {
      for (let sent = 0; sent < size; sent += MIB) yield block;
    })(),
  );

/** Seconds that an upload took, to its answer. */
const upload = async (url: string, size: number): Promise<number> => {
  // What earlier rounds left to be written is not to be paid for by this one.
  execFileSync('sync');
  const begun = performance.now();
  const sending = request(url, { method: 'PUT', headers: { 'Content-Length': size } });
  bodyOf(size).pipe(sending);
  const [response] = await once(sending, 'response');
  await once(response.resume(), 'end');
  if (response.statusCode >= 300) throw new Error(`${url} answered ${response.statusCode}`);
  return (performance.now() - begun) / 1000;
};

const listening = async (child: ChildProcess): Promise<string> => {
  for await (const chunk of child.stdout ?? []) {
    const url = /listening on (http:\S+)/.exec(String(chunk))?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('the server did not start');
};

/** Linux tells the most memory that a process ever held, in MiB. */
const peakMemory = ({ pid }: ChildProcess): number =>
  Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const spread = (values: number[], digits: number): string => {
  const [sorted, middle] = [values.toSorted((a, b) => a - b), Math.floor(values.length / 2)];
  const [median, least, most] = [sorted[middle], sorted[0], sorted.at(-1)].map((value) => value?.toFixed(digits));
  return `${median} [${least} to ${most}]`;
};

/** Prints its tables; takes about a minute, 1 GiB of room, and a built service. */
export async function benchUploads(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'signage-bench-'));
  writeFileSync(join(dataDir, 'content.json'), '{ "screens": [], "playlists": [] }');
  const service = spawn(process.execPath, [join(import.meta.dirname, '../../dist/service/headless.js')], {
    env: { ...process.env, SIGNAGE_DATA_DIR: dataDir, SIGNAGE_HOST: '127.0.0.1', SIGNAGE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const plain = spawn(process.execPath, ['--input-type=module', '-e', plainServer, join(dataDir, 'plain.bin')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [serviceUrl, plainUrl] = await Promise.all([listening(service), listening(plain)]);
    const ways = {
      'plain pipeline': `${plainUrl}/`,
      'plain pipeline, flushed': `${plainUrl}/flushed`,
      'PUT /api/media': `${serviceUrl}/api/media/bench.bin`,
    };
    const names = Object.keys(ways) as (keyof typeof ways)[];

    const idle = peakMemory(service);
    await upload(ways['PUT /api/media'], SMALL);
    const small = peakMemory(service);

    const seconds = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<
      keyof typeof ways,
      number[]
    >;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let turn = 0; turn < names.length; turn += 1) {
        const name = names[(round + turn) % names.length] as keyof typeof ways;
        seconds[name].push(await upload(ways[name], LARGE));
      }
    }

    console.log(`Uploads of 1 GiB, ${ROUNDS} rotated rounds, median [min to max]`);
    for (const name of names) {
      const speeds = seconds[name].map((time) => LARGE / MIB / time);
      console.log(`  ${name.padEnd(24)} ${spread(speeds, 0)} MiB/s`);
    }
    for (const name of names.slice(0, 2)) {
      const ratios = seconds[name].map((time, round) => time / (seconds['PUT /api/media'][round] as number));
      console.log(`  speed of ours to ${name}: ${spread(ratios, 2)} (goal 0.8)`);
    }
    const memory = [idle, small, peakMemory(service)].map((mib) => mib.toFixed(0));
    console.log(
      `  peak memory of the service, MiB: idle ${memory[0]}, 64 MiB sent ${memory[1]}, 1 GiB sent ${memory[2]}`,
    );
  } finally {
    service.kill();
    plain.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
