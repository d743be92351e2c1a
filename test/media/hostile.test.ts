/** Files that are built to keep the service busy: nobody waits for what one of them says of itself. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { MediaList } from '../../service/contract/media.ts';
import { hasFfmpeg, makeMedium } from '../support/media.ts';
import { shareTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
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
  walk,
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

/** Files that name others: what a program that followed them would ask for, or show. */
const curious = (address: string, film: string, picture: string): [name: string, text: string][] => [
  [
    'list.mp4',
    `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${address}/hls\n#EXTINF:10,\nfile://${film}\n#EXT-X-ENDLIST\n`,
  ],
  ['own.mp4', `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://${film}\n#EXT-X-ENDLIST\n`],
  ['list.ts', `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${address}/ts\n#EXT-X-ENDLIST\n`],
  ['concat.mkv', `ffconcat version 1.0\nfile '${address}/concat'\nfile '${film}'\n`],
  ['list.avi', `#EXTM3U\n#EXTINF:10,\nconcat:${address}/avi|file://${film}\n`],
  ['link.svg', `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="${address}/svg"/></svg>`],
  ['link.tiff', `<svg xmlns="http://www.w3.org/2000/svg"><image href="file://${picture}" width="9" height="9"/></svg>`],
];

const secret = ['-f', 'lavfi', '-i', 'color=0xc800c8:size=64x36:rate=25:duration=1'];

/** Whether a picture or a film shows the colour of the secret files; null: it is neither. */
const showsSecret = (bytes: Buffer): boolean | null => {
  const isJpeg = bytes.toString('hex', 0, 2) === 'ffd8';
  const isWebp = bytes.toString('latin1', 8, 12) === 'WEBP';
  const isFilm = bytes.toString('latin1', 4, 8) === 'ftyp';
  if (!isJpeg && !isWebp && !isFilm) return null;
  const pixels = ['-vf', 'scale=8:8', '-frames:v', '20', '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-'];
  const format = isJpeg ? 'mjpeg' : isWebp ? 'webp_pipe' : 'mov';
  const { stdout } = spawnSync('ffmpeg', ['-v', 'error', '-f', format, '-i', '-', ...pixels], { input: bytes });
  const starts = Array.from({ length: stdout.length / 3 }, (_, index) => index * 3);
  return starts.some((at) => [200, 0, 200].every((part, index) => Math.abs((stdout[at + index] ?? 0) - part) < 40));
};

it.skipIf(!hasFfmpeg)('a file that names other files and addresses gets neither', async () => {
  const asked: string[] = [];
  const listener = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listener.close());
  const shown = readFileSync(makeMedium('secret.jpg', [...secret, '-frames:v', '1']));
  expect(showsSecret(shown)).toBe(true);
  const files = curious(
    `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    makeMedium('secret.ts', [...secret, '-c:v', 'libx264', '-pix_fmt', 'yuv420p']),
    makeMedium('secret.png', [...secret, '-frames:v', '1']),
  );
  for (const [name, text] of files) {
    expect((await service().get(`/api/media/${name}`, { method: 'PUT', body: text })).status).toBe(201);
  }
  const unsettled = async (): Promise<string[]> => {
    const { media } = (await (await service().get('/console/api/media')).json()) as MediaList;
    const settled = media.filter(({ rendition }) => ['none', 'ready', 'failed'].includes(rendition.state));
    return files.map(([name]) => name).filter((name) => settled.every(({ filename }) => filename !== name));
  };
  await expect.poll(unsettled, { timeout: 25_000 }).toEqual([]);
  for (const [name, text] of files) {
    for (const path of [`/console/api/media/${name}/thumbnail`, `/media/${name}`]) {
      const answer = await service().get(path);
      const body = Buffer.from(await answer.arrayBuffer());
      const isSecret = showsSecret(body);
      expect([path, isSecret ?? false]).toEqual([path, false]);
      // What is no picture names the file, and does not hold it.
      if (isSecret === null && answer.ok) expect(body.toString()).toBe(text);
    }
  }
  expect(asked).toEqual([]);
});
