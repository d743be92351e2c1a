/** What one upload costs the service: of a film with a hostile index, and beside many other media. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nestedBoxes } from '../media/hostile.ts';
import { median, type Report } from './harness/report.ts';
import { startBenchService } from './service.ts';

/** Media that are there already. */
const COUNT = Number(process.env['BENCH_MEDIA'] ?? 10_000);
const UPLOADS = 50;
/** For so long the service learns what the media are, and forgets about it. */
const SETTLE_MS = 20_000;

const timed = async (work: () => Promise<Response>): Promise<number> => {
  const begun = performance.now();
  const response = await work();
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
  return performance.now() - begun;
};

const ranks = (values: readonly number[]): string => {
  const at = (share: number) => values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN;
  return `median ${median(values).toFixed(1)}, p95 ${at(0.95).toFixed(1)}, most ${at(1).toFixed(1)} ms`;
};

export const benchMedia = async ({ note }: Report): Promise<void> => {
  const service = await startBenchService({}, (dataDir) => {
    const folder = join(dataDir, 'uploads');
    mkdirSync(folder, { recursive: true });
    for (let index = 0; index < COUNT; index++) writeFileSync(join(folder, `old-${index}.txt`), `${index}`);
    return { screens: [], playlists: [] };
  });
  const put = (name: string, body: Buffer) =>
    timed(() => fetch(`${service.url}/api/media/${name}`, { method: 'PUT', body: new Uint8Array(body) }));
  const health = async () => (await fetch(`${service.url}/healthz`)).arrayBuffer();
  try {
    const film = nestedBoxes(1000, 1000);
    const elapsed = await put('hostile.mp4', film);
    note(`PUT of an mp4 of 1,000 x 1,000 boxes (${(film.length / 1e6).toFixed(1)} MB): ${elapsed.toFixed(0)} ms.`);

    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const uploads: number[] = [];
    const answers: number[] = [];
    for (let index = 0; index < UPLOADS; index++) {
      const asking = (async () => {
        const begun = performance.now();
        await health();
        answers.push(performance.now() - begun);
      })();
      uploads.push(await put(`new-${index}.txt`, Buffer.alloc(1024)));
      await asking;
    }
    note(
      `${UPLOADS} uploads of 1 KiB, one after the other, beside ${COUNT} media: PUT ${ranks(uploads)}; /healthz ${ranks(answers)}.`,
    );
  } finally {
    await service.stop();
  }
};
