import { vi } from 'vitest';
import { repeats } from '../support/soak.ts';
import { publish, startRtmpServer } from './publishing.ts';
import { describeStreams, ffmpegsOf, patience, probe, type Streams, segmentsOf, test, watch } from './setup.ts';

/** More rounds for a long run. */
const rounds = repeats(1, 50, 'SIGNAGE_TEST_STREAM_ROUNDS');
const longRun = 30_000 + rounds * 20_000;

type Session = Awaited<ReturnType<typeof watch>>;

const newest = async (streams: Streams, session: Session): Promise<number> =>
  Number.parseInt((await segmentsOf(streams, session)).at(-1) ?? '0', 10);

/** So many segments may be under way when something happens. */
const inFlight = 3;

/** Keeps asking, as a player does, until there are segments that were not there before. */
const isBack = async (streams: Streams, session: Session, before: number): Promise<void> => {
  await vi.waitUntil(async () => (await newest(streams, session)) > before + inFlight, patience);
};

/** The width of the picture that a player starts with now; undefined: there is none. */
const widthOf = async (streams: Streams, session: Session): Promise<number | undefined> => {
  const names = (await segmentsOf(streams, session)).reverse();
  for (const name of names) {
    // Between the manifest and the segment the stream may have been started afresh.
    const found = await probe(streams.url + session.playlistUrl.replace('index.m3u8', name)).catch(() => undefined);
    if (found?.tracks['video']?.width) return found.tracks['video'].width;
  }
  return undefined;
};

const signal = (address: string, name: NodeJS.Signals): void => {
  for (const pid of ffmpegsOf(address)) process.kill(pid, name);
};

describeStreams('a stream comes back', () => {
  test('when its ffmpeg is killed', { timeout: longRun }, async ({ address, keep, start, expect }) => {
    const streams = await start();
    keep(publish(address));
    const session = await watch(streams, address);
    for (let round = 0; round < rounds; round += 1) {
      const before = await newest(streams, session);
      const killed = ffmpegsOf(address);
      expect(killed).toHaveLength(1);
      signal(address, 'SIGKILL');
      await isBack(streams, session, before);
      expect(ffmpegsOf(address)).not.toEqual(killed);
    }
    expect(ffmpegsOf(address)).toHaveLength(1);
  });

  test('when its ffmpeg is suspended', { timeout: longRun }, async ({ address, keep, start, expect }) => {
    const streams = await start();
    keep(publish(address));
    const session = await watch(streams, address);
    for (let round = 0; round < rounds; round += 1) {
      signal(address, 'SIGSTOP');
      await isBack(streams, session, await newest(streams, session));
    }
    expect(streams.log()).toContain('"phase":"quiet"');
    expect(ffmpegsOf(address)).toHaveLength(1);
  });

  test('when its source does, behind a server that stays', { timeout: longRun }, async ({
    address,
    keep,
    start,
    expect,
  }) => {
    const streams = await start();
    let camera = keep(publish(address));
    const session = await watch(streams, address);
    for (let round = 0; round < Math.max(2, rounds); round += 1) {
      await camera.close();
      // At once, and after a while.
      if (round % 2 === 1) await vi.waitUntil(async () => !(await streams.open(address)).live, patience);
      const before = await newest(streams, session);
      camera = keep(publish(address));
      await isBack(streams, session, before);
    }
    expect(ffmpegsOf(address)).toHaveLength(1);
  });

  test('when its server does', { timeout: longRun }, async ({ keep, start, expect }) => {
    const streams = await start();
    let server = keep(await startRtmpServer());
    const address = `${server.url}/camera`;
    let camera = keep(publish(address));
    const session = await watch(streams, address);
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all([camera.close(), server.close()]);
      await vi.waitUntil(async () => !(await streams.open(address)).live, patience);
      const before = await newest(streams, session);
      server = keep(await startRtmpServer(server.port));
      camera = keep(publish(address));
      await isBack(streams, session, before);
    }
    expect(ffmpegsOf(address)).toHaveLength(1);
  });

  test('when its source changes its format', { timeout: longRun }, async ({ address, keep, start }) => {
    const streams = await start();
    const first = keep(publish(address));
    const session = await watch(streams, address);
    await first.close();
    const second = keep(publish(address, { size: '640x360' }));
    await vi.waitUntil(async () => (await widthOf(streams, session)) === 640, patience);
    await second.close();
    keep(publish(address, { size: '160x90', video: 'flv1', audio: 'libmp3lame' }));
    await vi.waitUntil(async () => (await widthOf(streams, session)) === 160, patience);
  });
});

describeStreams('a source that is away for a while', () => {
  test('is one discontinuity, however often ffmpeg was started meanwhile', { timeout: 120_000 }, async ({
    keep,
    start,
    expect,
  }) => {
    const streams = await start();
    const server = keep(await startRtmpServer());
    const address = `${server.url}/away`;
    const camera = keep(publish(address));
    const session = await watch(streams, address);
    const manifest = async () => (await streams.get(session.playlistUrl)).text();
    /** The discontinuities that are in the manifest, or have left it. */
    const countOf = (text: string) =>
      Number(/^#EXT-X-DISCONTINUITY-SEQUENCE:(\d+)$/m.exec(text)?.[1]) +
      (text.match(/^#EXT-X-DISCONTINUITY$/gm)?.length ?? 0);
    const before = await manifest();

    await camera.close();
    await server.close();
    const runs = () => streams.log().split('ffmpeg exited').length - 1;
    await vi.waitUntil(
      async () => {
        await streams.open(address);
        return runs() >= 4;
      },
      { ...patience, timeout: 40_000 },
    );
    keep(await startRtmpServer(server.port));
    keep(publish(address));
    await vi.waitUntil(async () => countOf(await manifest()) > countOf(before), patience);
    const after = await manifest();
    expect(countOf(after)).toBe(countOf(before) + 1);
    const target = /^#EXT-X-TARGETDURATION:.*$/m;
    expect(target.exec(after)?.[0]).toBe(target.exec(before)?.[0]);
  });
});
