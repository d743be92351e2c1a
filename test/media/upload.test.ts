import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rename as move } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { uploadResult } from '../../service/contract/media.ts';
import { systemDisk } from '../../service/platform/store/disk.ts';
import { errorOf, png, startMedia } from './server.ts';

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('PUT /api/media/{filename}', () => {
  it('writes the bytes and returns their metadata', async () => {
    const { put, request, uploadDir } = await startMedia();
    const response = await put('photo.png', png);
    expect(response.status).toBe(201);
    expect(uploadResult.strict().parse(await response.json())).toEqual({
      filename: 'photo.png',
      size: png.length,
      sha256: sha256(png),
      url: '/media/photo.png',
      media_type: 'image/png',
    });
    expect(readFileSync(join(uploadDir, 'photo.png'))).toEqual(png);
    expect(Buffer.from(await (await request('/media/photo.png')).arrayBuffer())).toEqual(png);
  });

  it('replaces an existing file', async () => {
    const { put, request, uploads } = await startMedia();
    await put('a.txt', 'a much longer first version');
    expect((await put('a.txt', 'second')).status).toBe(200);
    expect(await (await request('/media/a.txt')).text()).toBe('second');
    expect(uploads()).toEqual(['a.txt']);
  });

  it.each([
    ['this service', 'EPERM', 200],
    ['a program outside the player', 'EBUSY', 503],
  ])('replaces a file that %s has open, as far as Windows allows it', async (_, code, status) => {
    const { put, request, uploads } = await startMedia();
    await put('a.txt', 'first');
    const rename = vi.spyOn(systemDisk, 'rename');
    onTestFinished(() => rename.mockRestore());
    rename.mockImplementation(async (from, to) => {
      const isOpen = basename(to) === 'a.txt' ? existsSync(to) : code === 'EBUSY' && basename(from) === 'a.txt';
      if (isOpen) throw Object.assign(new Error('in use'), { code, path: from });
      await move(from, to);
    });
    const response = await put('a.txt', 'second');
    expect(response.status).toBe(status);
    if (status === 503)
      expect(await errorOf(response)).toMatchObject({
        code: 'storage_unavailable',
        message: 'A program outside the player has the file open; try again in a moment.',
      });
    expect(await (await request('/media/a.txt')).text()).toBe(status === 503 ? 'first' : 'second');
    expect(uploads()).toEqual(['a.txt']);
  });

  it('keeps what it moves aside over a power cut, and no longer than until the new file is there', async () => {
    const { put, dataDir, uploadDir } = await startMedia();
    await put('a.txt', 'first');
    const rename = vi.spyOn(systemDisk, 'rename');
    onTestFinished(() => rename.mockRestore());
    rename.mockImplementation(async (from, to) => {
      // The power fails before anything gets the name.
      if (basename(to) === 'a.txt') throw Object.assign(new Error('in use'), { code: 'EPERM', path: from });
      await move(from, to);
    });
    expect((await put('a.txt', 'second')).status).toBe(503);
    expect(existsSync(join(uploadDir, 'a.txt'))).toBe(false);
    rename.mockRestore();
    for (const name of ['.aside-b.txt', 'b.txt']) writeFileSync(join(uploadDir, name), name);
    const { request, uploads } = await startMedia({ dataDir });
    expect(uploads()).toEqual(['a.txt', 'b.txt']);
    expect(await (await request('/media/a.txt')).text()).toBe('first');
    expect(await (await request('/media/b.txt')).text()).toBe('b.txt');
  });

  it('does not move a folder of that name aside', async () => {
    const { put, uploadDir, uploads } = await startMedia();
    mkdirSync(join(uploadDir, 'a.txt'));
    const rename = vi.spyOn(systemDisk, 'rename');
    onTestFinished(() => rename.mockRestore());
    rename.mockImplementation(async (from, to) => {
      // As Windows answers where a folder has the name.
      if (existsSync(to)) throw Object.assign(new Error('a folder'), { code: 'EPERM', path: from });
      await move(from, to);
    });
    expect((await put('a.txt', 'second')).status).toBe(503);
    expect(uploads()).toEqual(['a.txt']);
  });

  it('replaces a copy of the media directory', async () => {
    const { put, request, mediaDir } = await startMedia();
    writeFileSync(join(mediaDir, 'a.txt'), 'of a peer');
    expect((await put('a.txt', 'uploaded')).status).toBe(200);
    expect(await (await request('/media/a.txt')).text()).toBe('uploaded');
  });

  it('makes the folder again that was removed by hand', async () => {
    const { put, uploadDir, uploads } = await startMedia();
    await put('a.txt', 'before');
    rmSync(uploadDir, { recursive: true });
    expect((await put('a.txt', 'after')).status).toBe(201);
    expect(uploads()).toEqual(['a.txt']);
  });

  it('accepts an empty file, with a body and without', async () => {
    const { put } = await startMedia();
    for (const body of ['', undefined]) {
      expect(await (await put('empty.bin', body)).json()).toMatchObject({ size: 0, sha256: sha256('') });
    }
  });

  it('answers with a URL that works for any name', async () => {
    const { put, request } = await startMedia();
    const names = ['größe – 日本.txt', "it's (1) #1 100% & +.txt", '\u00e9.txt', '__proto__', 'config'];
    for (const name of names) {
      const { filename, url } = uploadResult.parse(await (await put(encodeURIComponent(name), name)).json());
      expect(filename).toBe(name);
      expect(await (await request(url)).text()).toBe(name);
    }
  });

  it.each([
    'a%2Fb',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e%2fa',
    '.hidden',
    'nul',
    'a%00',
    'a%5Cb',
    '%ff',
    '%zz',
    'a%',
    'x.',
  ])('refuses the name %s, to write, to delete and to read', async (name) => {
    const { put, request, uploads } = await startMedia();
    const responses = [await put(name, 'x'), await request(`/api/media/${name}`, { method: 'DELETE' })];
    for (const response of responses) {
      expect(response.status).toBe(400);
      expect(await errorOf(response)).toMatchObject({ code: 'invalid_field', field: 'filename' });
    }
    expect((await request(`/media/${name}`)).status).toBe(400);
    expect(uploads()).toEqual([]);
  });

  it('takes two names that differ only in how their letters are composed for one', async () => {
    const { put, request, uploads } = await startMedia();
    const [apart, composed] = ['e\u0301.txt', '\u00e9.txt'].map(encodeURIComponent) as [string, string];
    const first = await put(apart, 'first');
    expect([first.status, uploadResult.parse(await first.json()).filename]).toEqual([201, '\u00e9.txt']);
    expect((await put(composed, 'second')).status).toBe(200);
    expect(uploads()).toEqual(['\u00e9.txt']);
    for (const name of [apart, composed]) expect(await (await request(`/media/${name}`)).text()).toBe('second');
    expect((await request(`/api/media/${apart}`, { method: 'DELETE' })).status).toBe(204);
    expect(uploads()).toEqual([]);
  });

  it.each(['multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', 'Multipart/Form-Data'])(
    'refuses a file that is wrapped as %s',
    async (type) => {
      const { put, request } = await startMedia();
      await put('a.txt', 'before');
      const response = await put('a.txt', 'wrapped', { 'Content-Type': type });
      expect([response.status, await errorOf(response)]).toMatchObject([
        415,
        { code: 'unsupported_media_type', message: expect.stringContaining('curl -T FILE') },
      ]);
      expect(await (await request('/media/a.txt')).text()).toBe('before');
    },
  );

  it('refuses the name of an existing folder', async () => {
    const { put, request, uploadDir, uploads } = await startMedia();
    mkdirSync(join(uploadDir, 'folder'));
    const response = await put('folder', 'x');
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'invalid_field', field: 'filename' });
    expect((await request('/media/folder')).status).toBe(404);
    expect((await request('/api/media/folder', { method: 'DELETE' })).status).toBe(404);
    expect(uploads()).toEqual(['folder']);
  });

  it('keeps one of two concurrent uploads of one name, whole', async () => {
    const { put, uploadDir, uploads } = await startMedia();
    const versions = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(3_000_000));
    const responses = await Promise.all(versions.map((version) => put('same.txt', version)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 201]);
    expect(versions).toContain(readFileSync(join(uploadDir, 'same.txt'), 'utf8'));
    expect(uploads()).toEqual(['same.txt']);
  });

  it('answers 100 Continue to a client that expects it', async () => {
    const { port, uploads } = await startMedia();
    const upload = request({ port, path: '/api/media/a.txt', method: 'PUT', headers: { Expect: '100-continue' } });
    upload.on('continue', () => upload.end('now'));
    upload.flushHeaders();
    const status = await new Promise((resolve) => upload.on('response', ({ statusCode }) => resolve(statusCode)));
    expect(status).toBe(201);
    expect(uploads()).toEqual(['a.txt']);
  });

  it('accepts a body of the signed hash, and stores nothing of a different one', async () => {
    const { put, uploads, uploadDir } = await startMedia();
    expect((await put('a.txt', 'signed', { 'x-test-body-sha256': sha256('signed') })).status).toBe(201);
    const forged = await put('a.txt', 'forged', { 'x-test-body-sha256': sha256('signed') });
    expect(forged.status).toBe(401);
    expect(await errorOf(forged)).toMatchObject({ code: 'signature_invalid' });
    expect(uploads()).toEqual(['a.txt']);
    expect(readFileSync(join(uploadDir, 'a.txt'), 'utf8')).toBe('signed');
  });
});

describe('the limit of uploads', () => {
  const limit = 100_000;

  it('accepts a file of exactly that size', async () => {
    const { put } = await startMedia({ maxUploadBytes: limit });
    expect((await put('a.bin', Buffer.alloc(limit))).status).toBe(201);
  });

  it('refuses one byte more before it is sent', async () => {
    const { port, uploads } = await startMedia({ maxUploadBytes: limit });
    // Its size is judged before its conditions.
    const headers = { 'Content-Length': limit + 1, 'If-Match': '"other"' };
    const upload = request({ port, path: '/api/media/a.bin', method: 'PUT', headers }).on('error', () => undefined);
    upload.flushHeaders();
    const response = await new Promise<IncomingMessage>((resolve) => upload.on('response', resolve));
    expect(response.statusCode).toBe(413);
    expect(JSON.parse(await text(response))).toMatchObject({ error: { code: 'payload_too_large' } });
    expect(uploads()).toEqual([]);
    upload.destroy();
  });

  it('refuses one byte more without a Content-Length, and leaves no files', async () => {
    const { request, uploads } = await startMedia({ maxUploadBytes: limit });
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(limit));
        controller.enqueue(new Uint8Array(1));
        controller.close();
      },
    });
    const response = await request('/api/media/a.bin', { method: 'PUT', body, duplex: 'half' } as RequestInit);
    expect(response.status).toBe(413);
    expect(await errorOf(response)).toMatchObject({ code: 'payload_too_large' });
    expect(uploads()).toEqual([]);
  });

  it('is reported to a client that reads only after sending everything', async () => {
    const { socket, uploads } = await startMedia({ maxUploadBytes: limit });
    const head = 'PUT /api/media/a.bin HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n989680\r\n';
    const { socket: client, received } = await socket(head);
    client.pause().write(Buffer.alloc(10_000_000));
    await new Promise((resolve) => client.write('\r\n0\r\n\r\n', resolve));
    client.resume();
    await expect.poll(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(uploads()).toEqual([]);
    client.write('GET /api/media/config HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(received).toMatch(/HTTP\/1\.1 200 /);
  });
});

describe('DELETE /api/media/{filename}', () => {
  it('deletes an upload, once', async () => {
    const { put, request, uploads } = await startMedia();
    await put('a.txt', 'x');
    const remove = () => request('/api/media/a.txt', { method: 'DELETE' });
    const removed = await remove();
    expect(removed.status).toBe(204);
    expect(await removed.text()).toBe('');
    expect(uploads()).toEqual([]);
    const again = await remove();
    expect(again.status).toBe(404);
    expect(await errorOf(again)).toMatchObject({ code: 'file_not_found' });
  });

  it('leaves the copies of remote media alone', async () => {
    const { mediaDir, request } = await startMedia();
    writeFileSync(join(mediaDir, 'copy.txt'), 'x');
    expect((await request('/api/media/copy.txt', { method: 'DELETE' })).status).toBe(404);
    expect((await request('/media/copy.txt')).status).toBe(200);
  });
});

it('GET /api/media/config names both folders', async () => {
  const { request, uploadDir, mediaDir } = await startMedia();
  expect(await (await request('/api/media/config')).json()).toEqual({ uploadDir, mediaDir });
});
