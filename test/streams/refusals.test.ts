import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { freePort } from '../support/ports.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { publish, startTcpServer } from './publishing.ts';
import { describeStreams, ffmpegsOf, patience, type Streams, test, watch } from './setup.ts';

const errorOf = async (response: Response) => ({
  status: response.status,
  retryAfter: response.headers.get('retry-after'),
  ...(await response.json()).error,
});

describeStreams('a request for a stream is refused', () => {
  test('where it is malformed', async ({ start, expect }) => {
    const { get } = await start();
    const field = async (query: string) => {
      const { status, code, field } = await errorOf(await get(`/api/rtmp/session${query}`));
      return `${status} ${code} ${field}`;
    };
    expect(await field('')).toBe('400 missing_field source');
    expect(await field('?source=')).toBe('400 missing_field source');
    expect(await field('?source=http://a/b')).toBe('400 invalid_field source');
    expect(await field('?source=rtmp://a/b&source=rtmp://a/c')).toBe('400 invalid_field source');
    for (const value of ['', 'yes', 'TRUE', '2', 'constructor', '1&disableAudio=1']) {
      expect(await field(`?source=rtmp://a/b&disableAudio=${value}`)).toBe('400 invalid_field disableAudio');
    }
  });

  test('where there is no such session or file', async ({ address, start, expect }) => {
    const streams = await start();
    const unknown = await errorOf(await streams.get('/api/rtmp/streams/0123456789abcdef/index.m3u8'));
    expect(unknown).toMatchObject({ status: 404, code: 'session_not_found' });
    const { key } = await streams.open(address);
    for (const name of ['1.ts', 'index.m3u', '__proto__', '..%2f..%2fetc%2fpasswd', '%00']) {
      const response = await streams.get(`/api/rtmp/streams/${key}/${name}`);
      expect(await errorOf(response)).toMatchObject({ status: 404, code: 'file_not_found' });
    }
  });

  test('where there are too many', async ({ address, start, expect }) => {
    const streams = await start({ maxStreams: 1, streamIdleSeconds: 20 });
    await streams.open(address);
    expect((await streams.request(address)).status).toBe(200);
    const refusal = await errorOf(await streams.request(`${address}-other`));
    expect(refusal).toMatchObject({ status: 429, code: 'too_many_streams' });
    expect(Number(refusal.retryAfter)).toBeGreaterThan(0);
    expect(Number(refusal.retryAfter)).toBeLessThanOrEqual(20);
  });

  test('only for as long as all are wanted', walk, async ({ address, start, expect }) => {
    const streams = await start({ maxStreams: 2 });
    const wanted = await streams.open(address);
    expect((await errorOf(await streams.get(wanted.playlistUrl))).code).toBe('stream_not_ready');
    const unwanted = await streams.open(`${address}-unwanted`);
    expect((await errorOf(await streams.request(`${address}-new`))).code).toBe('too_many_streams');
    await vi.waitUntil(async () => (await streams.request(`${address}-new`)).status === 200, patience);
    expect((await errorOf(await streams.get(unwanted.playlistUrl))).code).toBe('session_not_found');
    expect((await errorOf(await streams.get(wanted.playlistUrl))).code).toBe('stream_not_ready');
    expect((await errorOf(await streams.request(`${address}-another`))).code).toBe('too_many_streams');
  });

  test('where there is no ffmpeg', async ({ address, start, expect }) => {
    const streams = await start({ ffmpegPath: '/nonexistent/ffmpeg' });
    expect(await errorOf(await streams.request(address))).toMatchObject({
      status: 503,
      code: 'ffmpeg_unavailable',
      message: expect.stringContaining('install'),
    });
  });
});

const elf = Buffer.from('7f454c460201010000000000000000000200f3000100000000000000000000004000000000000000', 'hex');

/** Each is there and can not run. */
const broken: [what: string, install: (path: string) => void][] = [
  ['is a folder', (path) => mkdirSync(path)],
  ['is a script that fails', (path) => writeFileSync(path, '#!/bin/sh\nexit 1\n', { mode: 0o755 })],
  ['is made for another machine', (path) => writeFileSync(path, elf, { mode: 0o755 })],
  ['needs an interpreter that is not there', (path) => writeFileSync(path, '#!/nowhere/sh\n', { mode: 0o755 })],
  ['is another program', (path) => symlinkSync('/bin/true', path)],
];

describe('an ffmpeg that is there and can not run', () => {
  it.each(broken)('is as good as none where it %s', async (_, install) => {
    const path = join(temporaryFolder(), 'ffmpeg');
    install(path);
    const service = await startTestService({ env: { SIGNAGE_FFMPEG_PATH: path } });
    for (let times = 0; times < 2; times++) {
      const answer = await service.get('/api/rtmp/session?source=rtmp://127.0.0.1:1/a');
      expect(await errorOf(answer)).toMatchObject({ status: 503, code: 'ffmpeg_unavailable' });
    }
    expect(await (await service.get('/healthz')).json()).toMatchObject({
      ffmpeg: null,
      warnings: expect.arrayContaining([expect.stringMatching(/no streams; .*: sudo apt install ffmpeg$/)]),
    });
  });
});

const secrets = /alice|s3cret|private|t0ken/;

/** Runs a stream for a while; what the service logged of it. */
const logOf = async (streams: Streams, source: string): Promise<string> => {
  await streams.open(source);
  await vi.waitUntil(() => streams.log().includes('ffmpeg exited'), patience);
  return streams.log();
};

describeStreams('a source that is no source', () => {
  test('and is not there: nothing of its credentials is logged', async ({ start, expect }) => {
    const streams = await start();
    const port = await freePort();
    const log = await logOf(streams, `rtmp://alice:s3cret@127.0.0.1:${port}/private/t0ken?key=t0ken`);
    expect(log).toContain('Connection refused');
    expect(log).toContain(`rtmp://127.0.0.1:${port}`);
    expect(log).not.toMatch(secrets);
  });

  test('but sends garbage: it is tried again, by one ffmpeg at a time', async ({ keep, start, expect }) => {
    const streams = await start();
    const server = keep(await startTcpServer((socket) => socket.end(Buffer.alloc(10_000, 'garbage'))));
    const source = `rtmp://alice:s3cret@127.0.0.1:${server.port}/private/t0ken`;
    await vi.waitUntil(async () => {
      await streams.open(source);
      return server.clients() > 3;
    }, patience);
    expect(streams.log()).not.toMatch(secrets);
    expect(ffmpegsOf(`:${server.port}/`).length).toBeLessThanOrEqual(1);
  });

  test('but stays silent: every request is answered, and it is given up in the end', async ({
    keep,
    start,
    expect,
  }) => {
    const streams = await start();
    const server = keep(await startTcpServer(() => undefined));
    const source = `rtmp://127.0.0.1:${server.port}/live/a`;
    const { playlistUrl } = await streams.open(source);
    await vi.waitUntil(() => server.clients() > 0, patience);
    expect(await streams.open(source)).toMatchObject({ ready: false, live: false });
    expect(await errorOf(await streams.get(playlistUrl))).toMatchObject({ status: 404, code: 'stream_not_ready' });
    await vi.waitUntil(() => server.clients() > 1, patience);
    expect(streams.log()).toContain('ffmpeg exited');
  });
});

test.skipIf(process.platform === 'win32')(
  'the health says why a source fails, without its password',
  async ({ expect }) => {
    const path = join(temporaryFolder(), 'ffmpeg');
    const source = 'rtsp://alice:s3cret@127.0.0.1:9/private';
    const refusal = 'Server returned 401 Unauthorized (authorization failed)';
    const version = '[ "$1" = -version ] && echo ffmpeg version 9-test && exit';
    writeFileSync(path, `#!/bin/sh\n${version}\necho '${source}: ${refusal}' >&2\nexit 1\n`, { mode: 0o755 });
    const service = await startTestService({ env: { SIGNAGE_FFMPEG_PATH: path } });
    await service.get(`/api/rtmp/session?source=${encodeURIComponent(source)}`);
    const healthOf = async () => (await service.get('/healthz')).json();
    const warnings = [`The stream of rtsp://127.0.0.1:9 failed: ${refusal}.`];
    await expect.poll(healthOf, patience).toMatchObject({ warnings: expect.arrayContaining(warnings) });
  },
);

describeStreams('at the end of the service', () => {
  test('streams that run are ended', async ({ address, keep, start, expect }) => {
    const streams = await start();
    keep(publish(address));
    await watch(streams, address);
    await streams.close();
    expect(ffmpegsOf(address)).toEqual([]);
  });

  test('so are those that do not listen', async ({ address, keep, start, expect }) => {
    const folder = mkdtempSync(join(tmpdir(), 'deaf-'));
    keep({ close: async () => rmSync(folder, { recursive: true }) });
    const program = join(folder, 'ffmpeg');
    const version = '[ "$1" = -version ] && echo ffmpeg version 9-test && exit';
    writeFileSync(program, `#!/bin/sh\n${version}\ntrap "" TERM\nwhile :; do /bin/sleep 0.1; done # pipe:1\n`);
    chmodSync(program, 0o700);
    const streams = await start({ ffmpegPath: program });
    await streams.open(address);
    await vi.waitUntil(() => ffmpegsOf(address).length === 1, patience);
    await streams.close();
    expect(ffmpegsOf(address)).toEqual([]);
  });
});
