/** Copies of remote media, by the service's front door and a real server. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CopiesHealth } from '../../../service/contract/health.ts';
import { patience, payloadOf } from '../../support/observe.ts';
import { lobby } from '../../support/player.ts';
import { startTestService, type TestService, temporaryFolder } from '../../support/service.ts';
import { testTempo } from '../../support/tempo.ts';
import { noise, type Remote, serveBytes, startRemote } from '../remote.ts';
import { png } from '../server.ts';

const MIB = 1024 ** 2;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
/** A picture and `bytes` more bytes: what follows the last chunk of a PNG is not looked at. */
const picture = (bytes: number): Buffer => Buffer.concat([png, noise(bytes)]);

const image = (media_url: string) => ({ kind: 'image', media_url });
const images = (remote: Remote, ...paths: string[]) => lobby(paths.map((path) => image(remote.url + path)));

const statusOf = async (service: TestService): Promise<CopiesHealth> =>
  ((await (await service.get('/healthz')).json()) as { copies: CopiesHealth }).copies;
const until = (service: TestService, expected: object): Promise<void> =>
  expect.poll(() => statusOf(service), patience).toMatchObject(expected);
const copyOf = (service: TestService, url: string, init: RequestInit = {}): Promise<Response> =>
  service.get(`/copies?url=${encodeURIComponent(url)}`, { redirect: 'manual', ...init });
const filesOf = (dataDir: string): string[] => readdirSync(join(dataDir, 'media', 'copies')).toSorted();

const serve = (remote: Remote, path: string, bytes: Buffer, manner: Parameters<typeof serveBytes>[1] = {}): void =>
  remote.answer(path, serveBytes(bytes, { type: 'image/png', etag: `"${sha256(bytes)}"`, ...manner }));

/** Does not try again by itself. */
const patient = { ...testTempo, media: { ...testTempo.media, retry: 60_000, maxRetry: 60_000 } };

describe('a picture that the content names', () => {
  it('is prefetched, and served like at its origin', async () => {
    const remote = await startRemote();
    const bytes = picture(MIB);
    serve(remote, '/a', bytes);
    const service = await startTestService({ content: images(remote, '/a') });
    await until(service, { count: 1, bytes: bytes.length, pending: 0, failed: [] });

    const whole = await copyOf(service, `${remote.url}/a`);
    expect(whole.status).toBe(200);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'image/png',
      etag: `"${sha256(bytes)}"`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'self'",
      'accept-ranges': 'bytes',
    });
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    const part = await copyOf(service, `${remote.url}/a#x`, { headers: { Range: 'bytes=10-19' } });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, bytes.subarray(10, 20)]);
    const same = await copyOf(service, `${remote.url}/a`, { headers: { 'If-None-Match': `"${sha256(bytes)}"` } });
    expect(same.status).toBe(304);
    expect(remote.requests).toHaveLength(1);
  });

  it('is redirected to its origin until there is a copy, and no other address is', async () => {
    const remote = await startRemote();
    remote.answer('/a', () => undefined);
    serve(remote, '/other', png);
    const service = await startTestService({ content: images(remote, '/a') });
    await until(service, { count: 0, pending: 1 });
    const answer = await copyOf(service, `${remote.url}/a`);
    expect([answer.status, answer.headers.get('Location')]).toEqual([302, `${remote.url}/a`]);
    for (const url of [`${remote.url}/other`, 'https://example.com/', 'file:///etc/passwd', 'a']) {
      expect((await copyOf(service, url)).status).toBe(404);
    }
    for (const query of ['', '?url=a&url=b']) expect((await service.get(`/copies${query}`)).status).toBe(400);
    expect(remote.requests.map(({ url }) => url)).toEqual(['/a']);
  });

  it('is served without its origin and after a restart, and is not requested too often', async () => {
    const remote = await startRemote();
    for (const path of ['/a', '/b']) serve(remote, path, picture(path.charCodeAt(1)));
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: images(remote, '/a', '/b') });
    await until(first, { count: 2 });
    await first.close();
    await remote.close();

    const second = await startTestService({ dataDir });
    for (const path of ['/a', '/b']) {
      const answer = await copyOf(second, remote.url + path);
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(picture(path.charCodeAt(1)));
    }
    expect(await statusOf(second)).toMatchObject({ count: 2, pending: 0, failed: [] });
    expect(remote.requests).toHaveLength(2);
  });

  it('is continued where the service was stopped', async () => {
    const remote = await startRemote();
    const bytes = picture(3 * MIB);
    serve(remote, '/a', bytes, { cutAfter: 2 * MIB });
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: images(remote, '/a'), tempo: patient });
    await until(first, { failed: [{ reason: expect.stringMatching(/broke off/) }] });
    await first.close();
    serve(remote, '/a', bytes);
    const second = await startTestService({ dataDir });
    await until(second, { count: 1, bytes: bytes.length });
    const [whole, rest] = remote.requests.map(({ headers }) => headers.range);
    expect(whole).toBeUndefined();
    // What was under way when the connection broke is lost.
    const kept = Number(/^bytes=(\d+)-$/.exec(rest ?? '')?.[1]);
    expect(kept).toBeGreaterThan(MIB);
    expect(kept).toBeLessThanOrEqual(2 * MIB);
    expect(remote.requests).toHaveLength(2);
  });

  it('is fetched with the password of its address, and served by the address without it', async () => {
    const remote = await startRemote();
    serve(remote, '/a', png);
    const told = `${remote.url}/a`;
    const own = told.replace('://', '://alice:pass@');
    remote.answer('/b', () => undefined);
    const service = await startTestService({ content: lobby([own, own.replace(/a$/, 'b')].map(image)) });
    await until(service, { count: 1, pending: 1 });
    expect((await copyOf(service, told)).status).toBe(200);
    const [{ headers } = { headers: {} }] = remote.requests.filter(({ url }) => url === '/a');
    expect(headers).toMatchObject({ authorization: `Basic ${Buffer.from('alice:pass').toString('base64')}` });
    // No page is led to an address with a password.
    const waiting = await copyOf(service, own.replace(/a$/, 'b'));
    expect([waiting.status, waiting.headers.get('Location')]).toEqual([403, null]);
  });

  it('with two addresses is stored once', async () => {
    const remote = await startRemote();
    for (const path of ['/a', '/b']) serve(remote, path, png);
    const service = await startTestService({ content: images(remote, '/a', '/b') });
    await until(service, { count: 1, pending: 0 });
    await expect.poll(() => filesOf(service.dataDir), patience).toEqual([sha256(png)]);
    expect((await copyOf(service, `${remote.url}/b`)).status).toBe(200);
  });

  it('is fetched as soon as the content names it', async () => {
    const remote = await startRemote();
    serve(remote, '/a', png);
    const service = await startTestService({ content: lobby([]) });
    expect((await copyOf(service, `${remote.url}/a`)).status).toBe(404);
    service.writeContent(images(remote, '/a'));
    await until(service, { count: 1 });
  });
});

describe('a copy', () => {
  it('that is stale is shown while the new one is fetched, and an unchanged file is not sent again', async () => {
    const remote = await startRemote();
    serve(remote, '/a', png, { headers: { 'Cache-Control': 'no-cache' } });
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: images(remote, '/a') });
    await until(first, { count: 1 });
    await first.close();

    age(dataDir, { checkedAt: 0 });
    const second = await startTestService({ dataDir });
    await expect.poll(() => remote.requests.length, patience).toBe(2);
    expect(remote.requests[1]?.headers['if-none-match']).toBe(`"${sha256(png)}"`);
    await second.close();

    age(dataDir, { checkedAt: 0 });
    const changed = picture(100);
    serve(remote, '/a', changed);
    const third = await startTestService({ dataDir });
    const etagOf = async (url: string, more = '') =>
      (await third.get(`/copies?url=${encodeURIComponent(url)}${more}`)).headers.get('etag');
    await expect.poll(() => etagOf(`${remote.url}/a`), patience).toBe(`"${sha256(changed)}"`);

    // Who plays the one before goes on with it, until the next start.
    expect(await etagOf(`${remote.url}/a`, `&sha256=${sha256(png)}`)).toBe(`"${sha256(png)}"`);
    expect((await third.get(`/copies?url=${encodeURIComponent(`${remote.url}/b`)}&sha256=${sha256(png)}`)).status).toBe(
      404,
    );
    await third.close();
    const fourth = await startTestService({ dataDir });
    await until(fourth, { count: 1 });
    expect(filesOf(dataDir)).toEqual([sha256(changed)]);
  });

  it('that is stale is revalidated when it is shown, and not before', async () => {
    const remote = await startRemote();
    serve(remote, '/a', png);
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: images(remote, '/a') });
    await until(first, { count: 1 });
    await first.close();
    age(dataDir, { checkedAt: Date.now() - 1000, life: 500 });
    const second = await startTestService({ dataDir });
    await until(second, { count: 1 });
    expect(remote.requests).toHaveLength(1);
    expect((await copyOf(second, `${remote.url}/a`)).status).toBe(200);
    await expect.poll(() => remote.requests.length, patience).toBe(2);
  });

  it('that the content has not named for a month is deleted, and no other', async () => {
    const remote = await startRemote();
    for (const path of ['/a', '/b']) serve(remote, path, picture(path.charCodeAt(1)));
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: images(remote, '/a', '/b') });
    await until(first, { count: 2 });
    await first.close();
    age(dataDir, { usedAt: Date.now() - 31 * 24 * 60 * 60 * 1000 });
    const second = await startTestService({ dataDir, content: images(remote, '/a') });
    await until(second, { count: 1 });
    expect((await copyOf(second, `${remote.url}/a`)).status).toBe(200);
  });

  it('stays when its original is deleted', async () => {
    const remote = await startRemote();
    serve(remote, '/a', png);
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: images(remote, '/a') });
    await until(first, { count: 1 });
    await first.close();
    age(dataDir, { checkedAt: 0 });
    remote.answer('/a', (_, response) => response.writeHead(410).end());
    const second = await startTestService({ dataDir });
    await until(second, { count: 1, pending: 0, failed: [{ reason: 'the server answers 410', held: true }] });
    expect((await copyOf(second, `${remote.url}/a`)).status).toBe(200);
  });

  it.each<[string, (file: string) => void]>([
    ['has rotted', (file) => writeFileSync(file, readFileSync(file).reverse())],
    ['is cut', (file) => truncateSync(file, 50)],
  ])('that %s is fetched again', async (_, spoil) => {
    const remote = await startRemote();
    const bytes = picture(1000);
    serve(remote, '/a', bytes);
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: images(remote, '/a') });
    await until(first, { count: 1 });
    await first.close();
    spoil(join(dataDir, 'media', 'copies', sha256(bytes)));
    age(dataDir, { verifiedAt: 0 });
    const second = await startTestService({ dataDir });
    await expect.poll(() => remote.requests.length, patience).toBe(2);
    expect(remote.requests[1]?.headers['if-none-match']).toBe(undefined);
    await until(second, { count: 1, pending: 0 });
    expect(Buffer.from(await (await copyOf(second, `${remote.url}/a`)).arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('stays where its disk does not give it for a moment', async () => {
    const remote = await startRemote();
    serve(remote, '/a', png);
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: images(remote, '/a') });
    await until(first, { count: 1 });
    await first.close();
    const file = join(dataDir, 'media', 'copies', sha256(png));
    const away = join(dataDir, 'away');
    renameSync(file, away);
    // A link to itself: ELOOP.
    symlinkSync(file, file);
    age(dataDir, { verifiedAt: 0 });
    remote.answer('/a', (_, response) => response.writeHead(503).end());
    const second = await startTestService({ dataDir });
    await until(second, { count: 1, failed: [{ reason: 'the copy could not be read', held: true }] });
    renameSync(away, file);
    await until(second, { count: 1, failed: [{ reason: 'the server answers 503', held: true }] });
    expect((await copyOf(second, `${remote.url}/a`)).status).toBe(200);
  });

  it('that is deleted by hand is fetched again, and meanwhile the original is shown', async () => {
    const remote = await startRemote();
    serve(remote, '/a', png);
    const service = await startTestService({ content: images(remote, '/a') });
    await until(service, { count: 1 });
    rmSync(join(service.dataDir, 'media', 'copies', sha256(png)));
    expect((await copyOf(service, `${remote.url}/a`)).status).toBe(302);
    await until(service, { count: 1 });
    expect((await copyOf(service, `${remote.url}/a`)).status).toBe(200);
  });
});

describe('a file that cannot be copied', () => {
  it('is reported by its address without secrets, and never stored', async () => {
    const remote = await startRemote();
    remote.answer(
      '/page.png',
      serveBytes(Buffer.from('<!doctype html><script>alert(1)</script>'), { type: 'image/png' }),
    );
    remote.answer('/json', serveBytes(Buffer.from('{"secret":1}'), { type: 'application/json' }));
    const address = remote.url.replace('//', '//user:word@');
    const content = lobby([
      image(`${address}/page.png?key=hidden`),
      image(`${remote.url}/json`),
      image(`${remote.url}/none`),
    ]);
    const service = await startTestService({ content });
    await expect.poll(async () => (await statusOf(service)).failed.length, patience).toBe(3);
    expect(await statusOf(service)).toMatchObject({
      count: 0,
      pending: 0,
      failed: [
        { url: `${remote.url}/page.png?…`, reason: 'it is no picture, video or PDF', held: false },
        { url: `${remote.url}/json`, reason: 'it is no picture, video or PDF' },
        { url: `${remote.url}/none`, reason: 'the server answers 404' },
      ],
    });
    expect(filesOf(service.dataDir)).toEqual([]);
    expect(service.log()).not.toMatch(/user|word|hidden/);
  });

  it('because its server sends Retry-After is not requested before that', async () => {
    const remote = await startRemote();
    remote.answer('/a', (_, response) => response.writeHead(429, { 'Retry-After': '3600' }).end());
    const service = await startTestService({ content: images(remote, '/a') });
    await until(service, { failed: [{ reason: 'the server answers 429' }] });
    const [failed] = (await statusOf(service)).failed;
    expect(Date.parse(failed?.nextAt ?? '') - Date.now()).toBeGreaterThan(3_500_000);
  });

  it('because it is too large leaves no partial file', async () => {
    const remote = await startRemote();
    serve(remote, '/a', picture(MIB));
    const env = { SIGNAGE_MAX_UPLOAD_BYTES: '1000' };
    const service = await startTestService({ env, content: images(remote, '/a') });
    await until(service, { failed: [{ reason: 'the file is larger than the limit for media' }] });
    expect(readdirSync(join(service.dataDir, 'media'))).toEqual(['copies', 'renditions']);
  });
});

describe('the quota', () => {
  const env = { SIGNAGE_MEDIA_QUOTA_BYTES: String(3 * MIB) };
  const one = picture(MIB);
  const two = Buffer.concat([picture(MIB), Buffer.from('2')]);
  const three = Buffer.concat([picture(MIB), Buffer.from('3')]);
  const put = (service: TestService, name: string, bytes: number, init: RequestInit = {}): Promise<Response> =>
    service.get(`/api/media/${name}`, { method: 'PUT', body: new Uint8Array(bytes), ...init });

  const setUp = async () => {
    const remote = await startRemote();
    for (const [path, bytes] of [
      ['/1', one],
      ['/2', two],
      ['/3', three],
    ] as const)
      serve(remote, path, bytes);
    return { remote, service: await startTestService({ env, content: images(remote, '/1', '/2') }) };
  };

  it('evicts copies that are no longer named for named ones, least recently used first', async () => {
    const { remote, service } = await setUp();
    await until(service, { count: 2 });
    service.writeContent(images(remote, '/2'));
    const shown = async () => (await payloadOf(service)).slides.map(({ media_url }) => media_url);
    await expect.poll(shown, patience).toEqual([`${remote.url}/2`]);
    service.writeContent(images(remote, '/3'));
    await expect.poll(() => filesOf(service.dataDir), patience).toEqual([two, three].map(sha256).toSorted());
    expect((await copyOf(service, `${remote.url}/1`)).status).toBe(404);
    expect((await copyOf(service, `${remote.url}/2`)).status).toBe(200);
  });

  it('does not copy files that do not fit beside the named ones', async () => {
    const { remote, service } = await setUp();
    await until(service, { count: 2 });
    service.writeContent(images(remote, '/1', '/2', '/3'));
    await until(service, { count: 2, failed: [{ url: `${remote.url}/3`, reason: expect.stringMatching(/quota/) }] });
    expect((await copyOf(service, `${remote.url}/3`)).status).toBe(302);
  });

  it('evicts replaced copies first', async () => {
    const { remote, service } = await setUp();
    await until(service, { count: 2 });
    await service.close();
    age(service.dataDir, { checkedAt: 0 });
    serve(remote, '/1', png);
    const next = await startTestService({ dataDir: service.dataDir, env });
    await until(next, { bytes: png.length + two.length });
    expect(filesOf(next.dataDir)).toHaveLength(3);
    expect((await put(next, 'a.bin', 1.5 * MIB)).status).toBe(201);
    expect(filesOf(next.dataDir)).toEqual([png, two].map(sha256).toSorted());
  });

  it('evicts copies for uploads, but never named ones', async () => {
    const { remote, service } = await setUp();
    await until(service, { count: 2 });
    const refused = await put(service, 'a.bin', 1.5 * MIB);
    expect([refused.status, await refused.json()]).toMatchObject([507, { error: { code: 'insufficient_storage' } }]);
    expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([]);
    expect(filesOf(service.dataDir)).toHaveLength(2);

    service.writeContent(images(remote, '/2'));
    await expect.poll(async () => (await put(service, 'a.bin', 1.5 * MIB)).status, patience).toBe(201);
    expect(filesOf(service.dataDir)).toEqual([sha256(two)]);
    // In its own place a file needs no more room than it has.
    expect((await put(service, 'a.bin', 1.9 * MIB)).status).toBe(200);
  });

  it('holds for an upload without a Content-Length', async () => {
    const { service } = await setUp();
    await until(service, { count: 2 });
    const body = new Blob([new Uint8Array(1.5 * MIB)]).stream();
    const refused = await put(service, 'a.bin', 0, { body, duplex: 'half' } as RequestInit);
    expect(refused.status).toBe(507);
    expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([]);
  });

  it('that is reduced is enforced by the next start, even on named copies if they alone exceed it', async () => {
    const { remote, service } = await setUp();
    await until(service, { count: 2 });
    await service.close();
    const smaller = { SIGNAGE_MEDIA_QUOTA_BYTES: String(1.5 * MIB) };
    const next = await startTestService({ dataDir: service.dataDir, env: smaller });
    await until(next, { count: 1, quota: 1.5 * MIB });
    expect(remote.requests).toHaveLength(2);
  });
});

/** Makes the index of a service that is not running older than it is. */
const age = (dataDir: string, facts: Record<string, number>): void => {
  const path = join(dataDir, 'copies.json');
  expect(existsSync(path) && statSync(path).isFile()).toBe(true);
  const { body, ...head } = JSON.parse(readFileSync(path, 'utf8')) as { body: { copies: [string, object][] } };
  const copies = body.copies.map(([url, copy]) => [url, { ...copy, ...facts }]);
  const next = { copies };
  writeFileSync(path, JSON.stringify({ ...head, sha256: sha256(Buffer.from(JSON.stringify(next))), body: next }));
};
