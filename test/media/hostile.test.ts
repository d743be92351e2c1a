/** Files that are built to keep the service busy: nobody waits for what one of them says of itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hasFfmpeg } from '../support/media.ts';
import { shareTestService } from '../support/service.ts';
import { manySizes, manyTexts, nestedBoxes, nestedElements } from './hostile.ts';

const service = shareTestService({ content: { screens: [], playlists: [] } });

it.each<[name: string, bytes: Buffer, mostMs: number]>([
  ['film.mp4', nestedBoxes(1000, 1000), 10_000],
  ['picture.avif', manySizes(13_000, 32_000), 2_500],
  ['film.webm', nestedElements(500, 1000), 2_500],
])('an upload of a hostile %s is answered soon, and the service answers others', async (name, bytes, mostMs) => {
  const begun = performance.now();
  const uploading = service().get(`/api/media/${name}`, { method: 'PUT', body: new Uint8Array(bytes) });
  for (let asked = 0; asked < 3; asked++) expect((await service().get('/healthz')).status).toBe(200);
  expect((await uploading).status).toBe(201);
  expect(performance.now() - begun).toBeLessThan(mostMs);
});

/** Memory of the processes whose command line has the word, MiB. */
const memoryOf = (word: string): number => {
  const read = (pid: string, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      return '';
    }
  };
  const pids = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && read(pid, 'cmdline').includes(word));
  return pids.reduce((sum, pid) => sum + Number(/VmRSS:\s+(\d+)/.exec(read(pid, 'status'))?.[1] ?? 0), 0) / 1024;
};

it.runIf(hasFfmpeg && process.platform === 'linux')(
  'a picture of 600 kB does not take 600 MiB to be shown',
  async () => {
    const name = 'texts.png';
    const body = new Uint8Array(manyTexts(6, 100e6));
    expect(body.length).toBeLessThan(600_000);
    expect((await service().get(`/api/media/${name}`, { method: 'PUT', body })).status).toBe(201);
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, memoryOf(`/uploads/${name}`));
    }, 20);
    const { status } = await service().get(`/console/api/media/${name}/thumbnail`);
    clearInterval(timer);
    expect([200, 404]).toContain(status);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(600);
  },
);
