import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CodedError } from '../../service/contract/errors.ts';
import { createCatalog } from '../../service/media/catalog.ts';
import { createDownloads } from '../../service/media/downloads.ts';
import { createFetchLimits } from '../../service/media/fetch-limits.ts';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { walk } from '../support/soak.ts';
import { testTempo } from '../support/tempo.ts';
import { mediaContext } from './context.ts';
import { noise, serveBytes, startRemote } from './remote.ts';

const MIB = 1024 ** 2;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const film = noise(3 * MIB);

interface Setup {
  mediaDir?: string;
  limit?: number;
  requireRoom?: (wanted: number) => Promise<void>;
}

const setUp = async ({ mediaDir = temporaryFolder(), limit = 64 * MIB, requireRoom = async () => {} }: Setup = {}) => {
  const context = mediaContext(temporaryFolder(), { media: mediaDir, options: { maxUploadBytes: limit } });
  const catalog = createCatalog(context, async () => null);
  const downloads = await createDownloads(context, { limits: createFetchLimits(context), requireRoom, catalog });
  const close = async (): Promise<void> => {
    await downloads.close();
    await catalog.close();
  };
  onTestFinished(close);
  const parts = (): string[] => readdirSync(mediaDir).filter((name) => name.startsWith('.part'));
  return { mediaDir, catalog, downloads, close, parts, read: (name: string) => readFileSync(join(mediaDir, name)) };
};

it('many queued downloads cause no warning of a listener leak', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const remote = await startRemote();
  remote.answer('/1', () => undefined);
  const { downloads, close } = await setUp();
  const names = Array.from({ length: 40 }, (_, at) => `${at}.bin`);
  const wanted = names.map((name) => downloads.want({ name, from: [`${remote.url}/1`] }).catch(() => 'given up'));
  await expect.poll(() => remote.requests.length, patience).toBe(2);
  await close();
  expect([(await Promise.all(wanted)).length, warnings]).toEqual([40, []]);
});

describe('a requested media file', () => {
  it('is fetched whole, hashed, and known to the catalog', async () => {
    const remote = await startRemote();
    remote.answer('/a.bin', serveBytes(film));
    const { downloads, read, catalog, parts } = await setUp();
    const done = await downloads.want({ name: 'film.bin', from: [`${remote.url}/a.bin`] });
    expect(done).toMatchObject({ size: film.length, sha256: sha256(film), etag: '"one"' });
    expect(read('film.bin').equals(film)).toBe(true);
    expect(await catalog.list()).toMatchObject([{ name: 'film.bin', sha256: sha256(film) }]);
    expect(parts()).toEqual([]);
  });

  it('is fetched once for concurrent requests', async () => {
    const remote = await startRemote();
    remote.answer('/a.bin', serveBytes(film));
    const { downloads } = await setUp();
    const wanted = { name: 'film.bin', sha256: sha256(film), from: [`${remote.url}/a.bin`] };
    await Promise.all([downloads.want(wanted), downloads.want(wanted)]);
    expect(remote.requests).toHaveLength(1);
  });

  it('is fetched from the next address if one lacks it, is unreachable or has different bytes', async () => {
    const remote = await startRemote();
    remote.answer('/other', serveBytes(noise(film.length).fill(7, 0, 99)));
    remote.answer('/short', serveBytes(film.subarray(9)));
    remote.answer('/right', serveBytes(film));
    const { downloads, read } = await setUp();
    const from = [
      'http://nowhere.invalid/',
      ...['/none', '/other', '/short', '/right'].map((path) => remote.url + path),
    ];
    await downloads.want({ name: 'film.bin', sha256: sha256(film), size: film.length, from });
    expect(read('film.bin').equals(film)).toBe(true);
    expect(remote.requests.map(({ url }) => url)).toEqual(['/none', '/other', '/short', '/right']);
  });

  it('is requested with the credentials in its address, and without identifying headers', async () => {
    const remote = await startRemote();
    remote.answer('/a.bin', serveBytes(film));
    const { downloads } = await setUp();
    await downloads.want({ name: 'a', from: [`${remote.url.replace('//', '//user:word@')}/a.bin`] });
    const { host, connection, ...headers } = remote.requests[0]?.headers ?? {};
    const authorization = `Basic ${Buffer.from('user:word').toString('base64')}`;
    expect(headers).toEqual({ authorization, 'user-agent': 'signage-player', 'accept-encoding': 'identity' });
  });

  it('never gets a name outside its folder', async () => {
    const { downloads } = await setUp();
    await expect(downloads.want({ name: '../a', from: [] })).rejects.toMatchObject({ code: 'invalid_field' });
  });
});

describe('an interrupted download', () => {
  const cut = 2 * MIB;

  /** The `Range` of each request but the first. */
  const resume = async (
    before: Parameters<typeof serveBytes>[1],
    after: Parameters<typeof serveBytes>[1],
    body = film,
  ) => {
    const remote = await startRemote();
    const first = await setUp();
    const wanted = { name: 'film.bin', from: [`${remote.url}/a.bin`] };
    remote.answer('/a.bin', serveBytes(film, { ...before, cutAfter: cut }));
    await expect(first.downloads.want(wanted)).rejects.toThrow(/broke off after \d+ bytes/);
    await first.close();
    expect(readdirSync(first.mediaDir)).not.toContain('film.bin');

    // Another start of the service.
    const { downloads, read, parts } = await setUp({ mediaDir: first.mediaDir });
    remote.answer('/a.bin', serveBytes(body, after));
    expect(await downloads.want(wanted)).toMatchObject({ sha256: sha256(body) });
    expect(read('film.bin').equals(body)).toBe(true);
    expect(parts()).toEqual([]);
    return remote.requests.slice(1).map(({ headers }) => headers.range);
  };

  it('continues where it stopped, after a restart too', async () => {
    expect(await resume({}, {})).toEqual([`bytes=${cut}-`]);
  });

  it('continues by Last-Modified if that is a strong validator', async () => {
    const dates = { Date: 'Wed, 21 Oct 2026 07:28:09 GMT', 'Last-Modified': 'Wed, 21 Oct 2026 07:28:00 GMT' };
    const [range, ...rest] = await resume({ etag: '', headers: dates }, { etag: '', headers: dates });
    expect([range, rest]).toEqual([`bytes=${cut}-`, []]);
  });

  it('starts again if the file has changed', async () => {
    const changed = noise(2.5 * MIB).fill(1, 0, 1000);
    expect(await resume({}, { etag: '"two"' }, changed)).toEqual([`bytes=${cut}-`]);
  });

  it('starts again if the server does not support ranges', async () => {
    expect(await resume({}, { ranges: false })).toEqual([`bytes=${cut}-`]);
  });

  it('starts again if there is no validator', async () => {
    expect(await resume({ etag: 'W/"one"' }, { etag: 'W/"one"' })).toEqual([undefined]);
    expect(await resume({ etag: '' }, { etag: '' })).toEqual([undefined]);
  });

  it('starts again if the server continues with a different file', async () => {
    const remote = await startRemote();
    const { downloads, read } = await setUp();
    const wanted = { name: 'film.bin', from: [`${remote.url}/a.bin`] };
    remote.answer('/a.bin', serveBytes(film, { cutAfter: cut }));
    await expect(downloads.want(wanted)).rejects.toThrow(/broke off/);
    const changed = noise(film.length).fill(1);
    remote.answer('/a.bin', (request, response) => {
      if (request.headers.range === undefined) return serveBytes(changed, { etag: '"two"' })(request, response);
      const range = `bytes ${cut}-${film.length - 1}/${film.length}`;
      response.writeHead(206, { ETag: '"two"', 'Content-Range': range }).end(changed.subarray(cut));
    });
    await downloads.want(wanted);
    expect(read('film.bin').equals(changed)).toBe(true);
  });

  it('continues from another address if its hash is known', async () => {
    const remote = await startRemote();
    remote.answer('/a', serveBytes(film, { etag: '"a"', cutAfter: cut }));
    remote.answer('/b', serveBytes(film, { etag: '"b"' }));
    const { downloads, read } = await setUp();
    const from = [`${remote.url}/a`, `${remote.url}/b`];
    await downloads.want({ name: 'film.bin', sha256: sha256(film), from });
    expect(read('film.bin').equals(film)).toBe(true);
    expect(remote.requests.map(({ headers }) => headers.range)).toEqual([undefined, `bytes=${cut}-`]);
  });

  it.each([503, 404, 416])('outlives a server that answers %i in between', async (status) => {
    const remote = await startRemote();
    const { downloads, read } = await setUp();
    const wanted = { name: 'film.bin', from: [`${remote.url}/a.bin`] };
    remote.answer('/a.bin', serveBytes(film, { cutAfter: cut }));
    await expect(downloads.want(wanted)).rejects.toThrow(/broke off/);
    remote.answer('/a.bin', (_, response) => response.writeHead(status).end());
    await expect(downloads.want(wanted)).rejects.toThrow(`the server answers ${status}`);
    remote.answer('/a.bin', serveBytes(film));
    await downloads.want(wanted);
    expect(read('film.bin').equals(film)).toBe(true);
    // Only one that can't go on from there makes the part worthless.
    expect(remote.requests.at(-1)?.headers.range).toBe(status === 416 ? undefined : `bytes=${cut}-`);
  });

  it('starts again if the parts of several addresses do not have the expected hash', async () => {
    const remote = await startRemote();
    const other = noise(film.length).fill(3, 0, 100);
    remote.answer('/liar', serveBytes(other, { cutAfter: cut }));
    remote.answer('/b', serveBytes(film));
    const { downloads, read } = await setUp();
    await downloads.want({ name: 'film.bin', sha256: sha256(film), from: [`${remote.url}/liar`, `${remote.url}/b`] });
    expect(read('film.bin').equals(film)).toBe(true);
    expect(remote.requests.map(({ headers }) => headers.range)).toEqual([undefined, `bytes=${cut}-`, undefined]);
  });

  it('is deleted after a week', async () => {
    const mediaDir = temporaryFolder();
    mkdirSync(mediaDir, { recursive: true });
    const name = `.part-${'0'.repeat(40)}`;
    const old = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000);
    for (const [file, time] of [
      [name, old],
      [`${name}.json`, old],
      [`.part-${'1'.repeat(40)}`, new Date()],
    ] as const) {
      writeFileSync(join(mediaDir, file), 'x');
      utimesSync(join(mediaDir, file), time, time);
    }
    expect((await setUp({ mediaDir })).parts()).toEqual([`.part-${'1'.repeat(40)}`]);
  });

  const abandoned = `.part-${'0'.repeat(40)}`;

  it('is deleted after a week by a service that goes on', async () => {
    const { dataDir } = await startTestService({ tempo: { ...testTempo, media: { ...testTempo.media, prune: 50 } } });
    const file = join(dataDir, 'media', abandoned);
    writeFileSync(file, 'x');
    utimesSync(file, 0, 0);
    await expect.poll(() => existsSync(file), patience).toBe(false);
  });

  it('makes room for an upload', async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, 'media'), { recursive: true });
    writeFileSync(join(dataDir, 'media', abandoned), noise(0.9 * MIB));
    const box = await startTestService({ dataDir, content: lobby, env: { SIGNAGE_MEDIA_QUOTA_BYTES: String(MIB) } });
    const body = noise(MIB / 2) as BodyInit;
    expect((await box.get('/api/media/a.bin', { method: 'PUT', body })).status).toBe(201);
  });

  it('goes only as far as there has to be room, the oldest first', async () => {
    const { downloads, mediaDir, parts } = await setUp();
    const names = ['a', 'b'].map((letter) => `.part-${letter.repeat(40)}`);
    for (const [age, name] of names.entries()) {
      writeFileSync(join(mediaDir, name), 'xyz');
      utimesSync(join(mediaDir, name), 1_000 - age, 1_000 - age);
    }
    await downloads.sweep(0, 2);
    expect(parts()).toEqual([names[0]]);
  });

  it('stays while it is continued', async () => {
    const remote = await startRemote();
    let finish = (): void => {};
    remote.answer('/a.bin', (_, response) => {
      response.writeHead(200, { 'Content-Length': film.length }).write(film.subarray(0, cut));
      finish = () => response.end(film.subarray(cut));
    });
    const { downloads, mediaDir, parts, read } = await setUp();
    const wanted = downloads.want({ name: 'film.bin', from: [`${remote.url}/a.bin`] });
    await expect.poll(parts, patience).toHaveLength(1);
    writeFileSync(join(mediaDir, abandoned), 'x');
    // However new it is.
    await downloads.sweep(-60_000);
    expect(parts()).toHaveLength(1);
    finish();
    await wanted;
    expect(read('film.bin').equals(film)).toBe(true);
  });
});

describe('a server that misbehaves', () => {
  const faults: [what: string, path: string, fault: RegExp][] = [
    ['is away', '', /refuses connections/],
    ['has not got it', '/404', /answers 404/],
    ['fails', '/500', /answers 500/],
    ['answers a part that nobody asked for', '/part', /answers 206/],
    ['claims 10 GB', '/huge', /larger than the limit for media/],
    ['never ends', '/endless', /larger than the limit for media/],
    ['redirects in a circle', '/loop', /redirects more than 5 times/],
    ['redirects to a file', '/file', /leads to file:/],
    ['redirects to ftp', '/ftp', /leads to ftp:/],
    ['redirects to nowhere', '/nowhere', /no address/],
    ['compresses unasked', '/gzip', /Content-Encoding gzip/],
    ['speaks something else', '/garbage', /is not HTTP/],
  ];

  const misbehave = async () => {
    const remote = await startRemote();
    const redirect = (path: string, location: string): void =>
      remote.answer(path, (_, response) => response.writeHead(302, { Location: location }).end());
    redirect('/loop', '/loop');
    redirect('/file', 'file:///etc/passwd');
    redirect('/ftp', 'ftp://example.com/a.png');
    redirect('/nowhere', 'http://');
    remote.answer('/500', (_, response) => response.writeHead(500).end());
    remote.answer('/part', (_, response) => response.writeHead(206, { 'Content-Range': 'bytes 0-0/1' }).end('a'));
    remote.answer('/huge', (_, response) => response.writeHead(200, { 'Content-Length': 10 ** 10 }).write('a'));
    remote.answer('/gzip', (_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('a'));
    remote.answer('/garbage', (_, response) => response.socket?.end('\0\0\0\r\n\r\n'));
    remote.answer('/endless', (_, response) => {
      const block = Buffer.alloc(256 * 1024);
      const more = (): void => void (response.destroyed || response.write(block, more));
      more();
    });
    return remote;
  };

  it.each(faults)('and %s is told in words', async (_, path, fault) => {
    const remote = await misbehave();
    if (path === '') await remote.close();
    const { downloads, mediaDir } = await setUp({ limit: 5 * MIB });
    const error = await downloads.want({ name: 'a.png', from: [remote.url + path] }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'FetchFault', message: expect.stringMatching(fault) });
    expect(String(error)).not.toContain('127.0.0.1');
    expect(readdirSync(mediaDir)).toEqual([]);
  });

  it('and does not answer, or sends too slowly, is given up within seconds', { ...walk, timeout: 60_000 }, async () => {
    const remote = await startRemote();
    remote.answer('/silent', () => undefined);
    remote.answer('/drip', (_, response) => {
      response.writeHead(200, { ETag: '"one"' });
      const timer = setInterval(() => response.write(Buffer.alloc(1000)), 200);
      response.on('close', () => clearInterval(timer));
    });
    const { downloads } = await setUp();
    const want = (path: string) => expect(downloads.want({ name: path.slice(1), from: [remote.url + path] })).rejects;
    await Promise.all([want('/silent').toThrow(/does not answer/), want('/drip').toThrow(/too slowly/)]);
  });
});

it('a full disk fails the download, which can be retried', async () => {
  const remote = await startRemote();
  remote.answer('/a.bin', serveBytes(film));
  let isFull = true;
  const asked: number[] = [];
  const { downloads, mediaDir, read } = await setUp({
    requireRoom: async (wanted) => {
      asked.push(wanted);
      if (isFull) throw new CodedError('insufficient_storage');
    },
  });
  const wanted = { name: 'film.bin', from: [`${remote.url}/a.bin`] };
  await expect(downloads.want(wanted)).rejects.toMatchObject({ name: 'FetchFault', message: 'The disk is full.' });
  expect([asked, readdirSync(mediaDir)]).toEqual([[film.length], []]);
  isFull = false;
  await downloads.want(wanted);
  expect(read('film.bin').equals(film)).toBe(true);
});

const smallDisk = mountSmallDisk(2);

it.skipIf(smallDisk === null)(
  'a disk that fills meanwhile is left as it was (needs the right to mount one)',
  async () => {
    const remote = await startRemote();
    remote.answer('/a.bin', serveBytes(film));
    const { downloads, mediaDir, read } = await setUp({ mediaDir: String(smallDisk) });
    const wanted = { name: 'film.bin', from: [`${remote.url}/a.bin`] };
    await expect(downloads.want(wanted)).rejects.toMatchObject({ name: 'FetchFault', message: 'the disk is full' });
    expect(readdirSync(mediaDir)).toEqual([]);
    remote.answer('/a.bin', serveBytes(film.subarray(0, MIB)));
    await downloads.want(wanted);
    expect(read('film.bin')).toHaveLength(MIB);
  },
);

it('closing aborts downloads in progress and keeps the bytes received', async () => {
  const remote = await startRemote();
  remote.answer('/a.bin', (request, response) => {
    if (request.headers.range !== undefined) return serveBytes(film)(request, response);
    response.writeHead(200, { ETag: '"one"', 'Content-Length': film.length }).write(film.subarray(0, MIB));
  });
  const { downloads, parts, mediaDir, close } = await setUp();
  const wanted = { name: 'film.bin', from: [`${remote.url}/a.bin`] };
  const wanting = expect(downloads.want(wanted)).rejects.toMatchObject({ name: 'AbortError' });
  const arrived = (): number => Math.max(0, ...parts().map((name) => statSync(join(mediaDir, name)).size));
  await expect.poll(arrived, { timeout: 20_000 }).toBe(MIB);
  await close();
  await wanting;
  await (await setUp({ mediaDir })).downloads.want(wanted);
  expect(remote.requests.at(-1)?.headers.range).toBe(`bytes=${MIB}-`);
});

it('closing aborts downloads that have just begun, without later rejections', async () => {
  const { downloads, close, mediaDir } = await setUp();
  const wanting = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) =>
    expect(downloads.want({ name, from: ['http://nowhere.invalid/'] })).rejects.toMatchObject({ name: 'AbortError' }),
  );
  // They have begun to look for their parts.
  await new Promise((resolve) => setImmediate(resolve));
  await close();
  await Promise.all(wanting);
  expect(readdirSync(mediaDir)).toEqual([]);
});
