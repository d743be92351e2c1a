import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readlinkSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { fileAt } from '../../service/media/serve.ts';
import { temporaryFolder } from '../support/service.ts';
import { png, startMedia } from './server.ts';

const digits = '0123456789';

const startWithDigits = async () => {
  const media = await startMedia();
  await media.put('digits.txt', digits);
  return { ...media, read: (headers = {}) => media.request('/media/digits.txt', { headers }) };
};

describe('types', () => {
  it('are those of the media, served in a sandbox', async () => {
    const { put, request } = await startMedia();
    const files: [name: string, bytes: string | Buffer, type: string][] = [
      ['a.png', png, 'image/png'],
      ['a.svg', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'image/svg+xml'],
      ['a.vtt', 'WEBVTT\n\n', 'text/vtt'],
      ['a.pdf', '%PDF-1.7\n', 'application/pdf'],
    ];
    for (const [name, bytes, type] of files) {
      await put(name, bytes);
      const { status, headers } = await request(`/media/${name}`);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe(type);
      expect(headers.get('content-disposition')).toBe(null);
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox; frame-ancestors 'self'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-cache');
    }
  });

  it('are opaque for all other files, served as attachments', async () => {
    const { put, request } = await startMedia();
    const files: [name: string, bytes: string | Buffer][] = [
      ['page.html', '<script>alert(1)</script>'],
      ['page.svg', '<html><script>alert(1)</script></html>'],
      ['script.js', 'alert(1)'],
      ['photo.jpg', png],
      ['photo.png', ''],
      ['no extension', png],
    ];
    const kept: [name: string, bytes: string | Buffer, type: string][] = [
      ['menu.docx', 'PK\x03\x04', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
      ['room.ics', 'BEGIN:VCALENDAR\r\n', 'text/calendar'],
      ['menu.doc', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'application/msword'],
    ];
    for (const [name, bytes, type = 'application/octet-stream'] of [...files, ...kept]) {
      const { media_type } = (await (await put(encodeURIComponent(name), bytes)).json()) as { media_type: string };
      expect(media_type).toBe(type);
      const { headers } = await request(`/media/${encodeURIComponent(name)}`);
      expect(headers.get('content-type')).toBe('application/octet-stream');
      expect(headers.get('content-disposition')).toContain(`attachment; filename=`);
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox; frame-ancestors 'self'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('keep the name of an attachment in any script (RFC 6266)', async () => {
    const { put, request } = await startMedia();
    const name = encodeURIComponent('größe "日本".html'.replaceAll('"', "'"));
    await put(name, 'x');
    const { headers } = await request(`/media/${name}`);
    expect(headers.get('content-disposition')).toContain(
      "filename*=UTF-8''gr%C3%B6%C3%9Fe%20%27%E6%97%A5%E6%9C%AC%27.html",
    );
  });
});

describe('the folder of a served file', () => {
  it('is the upload folder before the media folder', async () => {
    const { mediaDir, put, request } = await startMedia();
    const read = async () => (await request('/media/a.txt')).text();
    writeFileSync(join(mediaDir, 'a.txt'), 'copy');
    expect(await read()).toBe('copy');
    await put('a.txt', 'upload');
    expect(await read()).toBe('upload');
    await request('/api/media/a.txt', { method: 'DELETE' });
    expect(await read()).toBe('copy');
  });

  it('is never outside those two', async () => {
    const { dataDir, request, socket } = await startMedia();
    writeFileSync(join(dataDir, 'secret.txt'), 'secret');
    expect((await request('/media/none.txt')).status).toBe(404);
    for (const path of ['..%2Fsecret.txt', '%2e%2e%2fsecret.txt', '..%5Csecret.txt']) {
      expect((await request(`/media/${path}`)).status).toBe(400);
    }
    const { received } = await socket('GET /media/../secret.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await expect.poll(received).toMatch(/^HTTP\/1\.1 404/);
  });

  it.skipIf(process.platform === 'win32')('is no pipe, and no request waits for one', async () => {
    const { uploadDir, request } = await startMedia();
    execFileSync('mkfifo', [join(uploadDir, 'pipe.mp4')]);
    symlinkSync('loop.mp4', join(uploadDir, 'loop.mp4'));
    for (const name of ['pipe.mp4', 'loop.mp4']) expect((await request(`/media/${name}`)).status).toBe(404);
  });
});

describe('ranges', () => {
  it.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=8-1000', '89', 'bytes 8-9/10'],
    ['bytes=-1000', '0123456789', 'bytes 0-9/10'],
  ])('%s', async (range, text, contentRange) => {
    const { read } = await startWithDigits();
    const response = await read({ Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(contentRange);
    expect(response.headers.get('content-length')).toBe(String(text.length));
    expect(await response.text()).toBe(text);
  });

  it('answers 416 with the length, and nothing of the file', async () => {
    const { read } = await startWithDigits();
    const response = await read({ Range: 'bytes=10-' });
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toBe('bytes */10');
    expect(response.headers.get('content-disposition')).toBe(null);
    expect(response.headers.get('content-type')).toContain('text/plain');
  });

  it('answers with the whole file if the range is invalid or of a different version', async () => {
    const { read } = await startWithDigits();
    for (const headers of [{ Range: 'lines=1-2' }, { Range: 'bytes=0-3', 'If-Range': '"another"' }]) {
      const response = await read(headers);
      expect(response.status).toBe(200);
      expect(response.headers.get('accept-ranges')).toBe('bytes');
      expect(await response.text()).toBe(digits);
    }
  });

  it('answers with the range if the version is the same', async () => {
    const { read } = await startWithDigits();
    const etag = (await read()).headers.get('etag') as string;
    expect(await (await read({ Range: 'bytes=5-', 'If-Range': etag })).text()).toBe('56789');
  });
});

describe('validators', () => {
  it('answers 304 if the entity tag matches, and 412 if a precondition fails', async () => {
    const { read } = await startWithDigits();
    const etag = (await read()).headers.get('etag') as string;
    expect(etag).toMatch(/^"[^"]+"$/);
    const unchanged = await read({ 'If-None-Match': etag });
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.get('etag')).toBe(etag);
    expect(unchanged.headers.get('content-security-policy')).toBe(
      "default-src 'none'; sandbox; frame-ancestors 'self'",
    );
    expect((await read({ 'If-None-Match': '"another"' })).status).toBe(200);
    expect((await read({ 'If-Match': etag })).status).toBe(200);
    expect((await read({ 'If-Match': '"another"' })).status).toBe(412);
  });

  it('notices a file that was replaced by one of the same size and time', async () => {
    const { put, read, uploadDir } = await startWithDigits();
    const file = join(uploadDir, 'digits.txt');
    utimesSync(file, 1, 1);
    const etag = (await read()).headers.get('etag') as string;
    await put('digits.txt', '9876543210');
    utimesSync(file, 1, 1);
    const response = await read({ 'If-None-Match': etag });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('9876543210');
  });

  it('notices a file that was written in place', async () => {
    const { read, uploadDir } = await startWithDigits();
    const file = join(uploadDir, 'digits.txt');
    utimesSync(file, 1, 1);
    const etag = (await read()).headers.get('etag') as string;
    writeFileSync(file, '9876543210');
    expect((await read({ 'If-None-Match': etag })).status).toBe(200);
  });
});

describe('HEAD', () => {
  it('answers like GET, without the bytes', async () => {
    const { read, request } = await startWithDigits();
    const whole = await read();
    const { status, headers } = await request('/media/digits.txt', { method: 'HEAD' });
    expect(status).toBe(200);
    for (const name of ['content-length', 'content-type', 'etag'])
      expect(headers.get(name)).toBe(whole.headers.get(name));
    expect((await request('/media/none.txt', { method: 'HEAD' })).status).toBe(404);
  });
});

describe('a file that is being served', () => {
  /** More than the buffers of both ends of a socket hold. */
  const size = 24 * 1024 ** 2;

  /** A reader that has had the first bytes and asks for no more yet. */
  const startReading = async (port: number, name: string): Promise<IncomingMessage> => {
    const request = get({ port, path: `/media/${name}` });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'readable');
    return response;
  };

  it('stays whole when it is replaced, deleted, or both', async () => {
    const { port, put, request } = await startMedia();
    await put('film.mp4', Buffer.alloc(size, 1));
    const readers = [await startReading(port, 'film.mp4')];
    await put('film.mp4', Buffer.alloc(size, 2));
    readers.push(await startReading(port, 'film.mp4'));
    await request('/api/media/film.mp4', { method: 'DELETE' });
    expect((await request('/media/film.mp4')).status).toBe(404);
    const [first, second] = await Promise.all(readers.map(buffer));
    expect(first?.equals(Buffer.alloc(size, 1))).toBe(true);
    expect(second?.equals(Buffer.alloc(size, 2))).toBe(true);
  });

  it.runIf(process.platform === 'linux')('is closed again, however the answer ends', async () => {
    const { port, put, request, uploadDir } = await startMedia();
    await put('film.mp4', Buffer.alloc(size));
    const open = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(uploadDir);
        } catch {
          return false;
        }
      });
    const readers = await Promise.all(Array.from({ length: 5 }, () => startReading(port, 'film.mp4')));
    expect(open()).toHaveLength(5);
    for (const reader of readers) reader.destroy();
    await (await request('/media/film.mp4')).arrayBuffer();
    for (const headers of [{ Range: 'bytes=5-9' }, { Range: `bytes=${size}-` }, { 'If-Match': '"x"' }]) {
      await (await request('/media/film.mp4', { headers })).arrayBuffer();
    }
    await request('/media/film.mp4', { method: 'HEAD' });
    await expect.poll(open, { timeout: 20_000 }).toEqual([]);
  });
});

it.each([
  ['a missing one', 'missing', false],
  ['a folder', 'folder', false],
  ['one below a file', 'file/below', false],
  ['one with too long a name', 'x'.repeat(300), false],
  ['one of which the system does not tell', 'a\0b', true],
])('tells that a file is not there only where the system does: %s', async (_, name, isUnknown) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'folder'));
  writeFileSync(join(folder, 'file'), '');
  const found = fileAt(folder, name);
  await (isUnknown ? expect(found).rejects.toThrow() : expect(found).resolves.toBeNull());
});
