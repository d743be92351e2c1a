/** Copies of remote media that browsers do not show: they are converted, measured and reported as uploads are. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../service/auth/sign.ts';
import { lobbyWith } from '../../content/samples.ts';
import { hasFfmpeg, makeMedium } from '../../support/media.ts';
import { healthOf, logged, patience, payloadOf } from '../../support/observe.ts';
import { startTestService, type TestService, temporaryFolder } from '../../support/service.ts';
import { walk } from '../../support/soak.ts';
import { serveBytes, startRemote } from '../remote.ts';

const noise = (seed: number): Buffer =>
  readFileSync(
    makeMedium('noise.tiff', [
      ...['-f', 'lavfi', '-i', `color=gray:size=320x180,noise=alls=100:all_seed=${seed}`, '-frames:v', '1'],
    ]),
  );
const copyOf = (box: TestService, url: string): Promise<Response> =>
  box.get(`/copies?url=${encodeURIComponent(url)}`, { redirect: 'manual' });
const untilConverted = (box: TestService, url: string): Promise<void> =>
  expect
    .poll(async () => (await copyOf(box, url)).headers.get('x-signage-rendition'), { timeout: 25_000 })
    .toBe('picture');

describe.skipIf(!hasFfmpeg)('of remote media', () => {
  it(
    'what plays is converted before uploads that nothing shows; what cannot be is named in a warning',
    walk,
    async () => {
      const remote = await startRemote();
      remote.answer('/hall.tiff', serveBytes(noise(11), { type: 'image/tiff', etag: '"hall"' }));
      remote.answer('/cut.tiff', serveBytes(noise(12).subarray(0, 300), { type: 'image/tiff', etag: '"cut"' }));
      const dataDir = temporaryFolder();
      mkdirSync(join(dataDir, 'uploads'));
      for (const seed of [1, 2, 3]) writeFileSync(join(dataDir, 'uploads', `unused${seed}.tiff`), noise(seed));
      let wall = Date.parse('2026-05-04T12:00:00Z');
      const box = await startTestService({
        dataDir,
        content: lobbyWith([
          { title: 'Hall', kind: 'image', media_url: `${remote.url}/hall.tiff` },
          { title: 'Cut', kind: 'image', media_url: `${remote.url}/cut.tiff?token=secret` },
        ]),
        env: { SIGNAGE_CONVERT_HOURS: '22:00-06:00', SIGNAGE_TIME_ZONE: 'UTC' },
        wall: () => wall,
      });
      const metrics = async (): Promise<string> => (await box.get('/metrics')).text();
      await expect.poll(metrics, patience).toContain('signage_renditions{state="queued"} 5');
      wall = Date.parse('2026-05-04T22:00:01Z');
      await expect.poll(metrics, { timeout: 25_000 }).toContain('signage_renditions{state="ready"} 4');
      const converted = () => logged(box, 'a medium is converted').map(({ name }) => basename(String(name)));
      await expect.poll(converted, patience).toHaveLength(4);
      expect(converted()[0]).not.toContain('unused');
      await untilConverted(box, `${remote.url}/hall.tiff`);
      const warnings = async () => JSON.stringify((await healthOf(box)).content.warnings);
      const sentence = `\\"Cut\\": \\"${remote.url}/cut.tiff?…\\" is not shown. The file is damaged`;
      await expect.poll(warnings, patience).toContain(sentence);
    },
  );

  it('what is removed with its folder by hand is fetched and converted again', async () => {
    const remote = await startRemote();
    remote.answer('/hall.tiff', serveBytes(noise(13), { type: 'image/tiff', etag: '"hall"' }));
    const url = `${remote.url}/hall.tiff`;
    const box = await startTestService({ content: lobbyWith([{ kind: 'image', media_url: url }]) });
    await untilConverted(box, url);
    const media = join(box.dataDir, 'media');
    rmSync(join(media, 'renditions'), { recursive: true });
    await untilConverted(box, url);
    const [copy = ''] = readdirSync(join(media, 'copies'));
    rmSync(join(media, 'copies'), { recursive: true });
    const isBack = async (): Promise<boolean> => {
      await (await box.get(`/copies?url=${encodeURIComponent(url)}&original`)).arrayBuffer();
      return existsSync(join(media, 'copies', copy));
    };
    await expect.poll(isBack, patience).toBe(true);
    await untilConverted(box, url);
  });

  it('the loudness of a film is told to pages', async () => {
    const how = ['-f', 'lavfi', '-i', 'color=0x00a000:size=320x180:rate=25:duration=2'];
    const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=2', '-c:a', 'aac'];
    const h264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-movflags', '+faststart'];
    const film = readFileSync(makeMedium('tone.mp4', [...how, ...tone, ...h264]));
    const remote = await startRemote();
    remote.answer('/tone.mp4', serveBytes(film, { type: 'video/mp4' }));
    const url = `${remote.url}/tone.mp4`;
    const box = await startTestService({ content: lobbyWith([{ kind: 'video', media_url: url }]) });
    await expect
      .poll(async () => Number((await copyOf(box, url)).headers.get('x-signage-loudness')), { timeout: 25_000 })
      .toBeCloseTo(-21.8, 0);
  });

  it('a page that is in the middle of a copy finishes it, and has its rendition the next time', async () => {
    const picture = noise(13);
    const remote = await startRemote();
    remote.answer('/hall.tiff', serveBytes(picture, { type: 'image/tiff' }));
    const url = `${remote.url}/hall.tiff`;
    const box = await startTestService({ content: lobbyWith([{ kind: 'image', media_url: url }]) });
    await untilConverted(box, url);
    const path = `/copies?url=${encodeURIComponent(url)}`;
    const hash = sha256Hex(picture);
    const continued = { method: 'HEAD', headers: { Range: 'bytes=0-', 'If-Range': `"${hash}"` } };
    for (const answer of [await box.get(`${path}&sha256=${hash}`), await box.get(path, continued)])
      expect(answer.headers.get('etag')).toBe(`"${hash}"`);
    expect((await box.get(path)).headers.get('etag')).not.toBe(`"${hash}"`);
  });

  it('the rendition goes first where the content names the medium no longer', async () => {
    const picture = noise(11);
    const remote = await startRemote();
    remote.answer('/hall.tiff', serveBytes(picture, { type: 'image/tiff' }));
    const url = `${remote.url}/hall.tiff`;
    const content = lobbyWith([{ kind: 'image', media_url: url }]);
    const quota = 2 * picture.length + 30_000;
    const box = await startTestService({ content, env: { SIGNAGE_MEDIA_QUOTA_BYTES: String(quota) } });
    await untilConverted(box, url);
    box.writeContent(lobbyWith([]));
    await expect.poll(async () => (await payloadOf(box)).slides, patience).toEqual([]);
    const put = await box.get('/api/media/other.tiff', { method: 'PUT', body: new Uint8Array(noise(12)) });
    expect(put.status).toBe(201);
    const { copies } = await healthOf(box);
    expect(copies).toMatchObject({ count: 1 });
    expect(await (await box.get('/metrics')).text()).toContain('signage_media_bytes{store="renditions"} 0');
  });
});
