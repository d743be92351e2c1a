import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/ports.ts';
import { walk } from '../support/soak.ts';
import { publish } from './publishing.ts';
import { startRtspCamera } from './rtsp.ts';
import { describeStreams, ffmpegsOf, patience, probe, segmentsOf, test, watch } from './setup.ts';

describeStreams('a stream', () => {
  test('answers at once, and serves HLS once media arrives', async ({ address, keep, start, expect }) => {
    const streams = await start();
    const response = await streams.request(address);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const session = await response.json();
    expect(session).toEqual({
      key: expect.stringMatching(/^[0-9a-f]{16}$/),
      playlistUrl: `/api/rtmp/streams/${session.key}/index.m3u8`,
      disableAudio: false,
      ready: false,
      live: false,
    });

    const early = await streams.get(session.playlistUrl);
    expect(early.status).toBe(404);
    expect(early.headers.get('retry-after')).toBe('1');
    expect(await early.json()).toMatchObject({ error: { code: 'stream_not_ready' } });

    keep(publish(address));
    await watch(streams, address);
    const manifest = await streams.get(session.playlistUrl);
    expect(manifest.headers.get('content-type')).toBe('application/vnd.apple.mpegurl');
    expect(manifest.headers.get('cache-control')).toBe('no-store');
    const [name] = await segmentsOf(streams, session);
    const segment = await streams.get(session.playlistUrl.replace('index.m3u8', `${name}`));
    expect(segment.headers.get('content-type')).toBe('video/mp2t');
    expect((await segment.arrayBuffer()).byteLength % 188).toBe(0);

    expect((await probe(streams.url + session.playlistUrl)).tracks).toMatchObject({
      video: { codec_name: 'h264', width: 320 },
      audio: { codec_name: 'aac' },
    });
  });

  test('has one ffmpeg, however many watch', async ({ address, keep, start, expect }) => {
    const streams = await start();
    keep(publish(address));
    const sessions = await Promise.all([streams.open(address), streams.open(address), watch(streams, address)]);
    expect(new Set(sessions.map(({ key }) => key)).size).toBe(1);
    expect(ffmpegsOf(address)).toHaveLength(1);
  });

  test('is another one without its sound', async ({ address, keep, start, expect }) => {
    const streams = await start();
    keep(publish(address));
    const silent = await watch(streams, address, '&disableAudio=1');
    expect(silent.disableAudio).toBe(true);
    expect(silent.key).not.toBe((await streams.open(address, '&disableAudio=false')).key);
    expect((await probe(streams.url + silent.playlistUrl)).tracks).not.toHaveProperty('audio');
  });

  test('ends when nobody asks for it any more', async ({ address, keep, start, expect }) => {
    const streams = await start({ streamIdleSeconds: 2 });
    keep(publish(address));
    const session = await watch(streams, address);
    await expect.poll(() => ffmpegsOf(address), patience).toEqual([]);
    expect(await (await streams.get(session.playlistUrl)).json()).toMatchObject({
      error: { code: 'session_not_found' },
    });
  });

  test('lives for as long as its segments are fetched', walk, async ({ address, keep, start, expect }) => {
    const streams = await start({ streamIdleSeconds: 2 });
    keep(publish(address));
    const { playlistUrl } = await watch(streams, address);
    const end = performance.now() + 4_000;
    while (performance.now() < end) {
      await streams.get(playlistUrl.replace('index.m3u8', '0.ts'));
      await pause(100);
    }
    expect((await streams.get(playlistUrl)).status).toBe(200);
  });

  test('is converted where a browser could not play it, and remembered', async ({ address, keep, start, expect }) => {
    const streams = await start({ streamIdleSeconds: 5 });
    keep(publish(address, { video: 'flv1', audio: 'libmp3lame' }));
    const session = await watch(streams, address);
    expect((await probe(streams.url + session.playlistUrl)).tracks).toMatchObject({
      video: { codec_name: 'h264' },
      audio: { codec_name: 'aac' },
    });
    await expect.poll(() => ffmpegsOf(address), patience).toEqual([]);
    const [first] = await Promise.all([streams.open(address), streams.open(address)]);
    expect(first.key).toBe(session.key);
    expect(ffmpegsOf(address)).toHaveLength(1);
    await watch(streams, address);
    expect(streams.log().match(/"phase":"stalled"/g)).toHaveLength(1);
  });

  test('may be sound alone', async ({ address, keep, start, expect }) => {
    const streams = await start();
    keep(publish(address, { video: 'none' }));
    const session = await watch(streams, address);
    const { tracks } = await probe(streams.url + session.playlistUrl);
    expect(Object.keys(tracks)).toEqual(['audio']);
  });

  test('can come over srt', walk, async ({ keep, start, expect }) => {
    const address = `srt://127.0.0.1:${await freePort()}`;
    const streams = await start();
    keep(publish(`${address}?mode=listener`));
    const session = await watch(streams, address);
    expect((await probe(streams.url + session.playlistUrl)).tracks).toMatchObject({ video: { codec_name: 'h264' } });
  });

  test('can come over rtsp', async ({ keep, start, expect }) => {
    const camera = keep(await startRtspCamera());
    const streams = await start();
    const session = await watch(streams, camera.url);
    expect((await probe(streams.url + session.playlistUrl)).tracks).toMatchObject({ video: { codec_name: 'h264' } });
  });

  test('lets a late viewer begin with a keyframe', walk, async ({ address, keep, start, expect }) => {
    const streams = await start();
    keep(publish(address, { gop: 3 }));
    const session = await watch(streams, address);
    const isSliding = async () => Number((await segmentsOf(streams, session)).length) > 14;
    await expect.poll(isSliding, patience).toBe(true);
    const [name] = await segmentsOf(streams, session);
    const url = streams.url + session.playlistUrl.replace('index.m3u8', `${name}`);
    const { packets } = await probe(url);
    expect(packets.find(({ codec_type }) => codec_type === 'video')?.flags).toMatch(/^K/);
  });
});
