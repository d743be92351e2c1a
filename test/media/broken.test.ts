import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { walk } from '../support/soak.ts';
import { errorOf, startMedia } from './server.ts';

const head = (length: number) => `PUT /api/media/a.bin HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
const patience = { timeout: 20_000 };

describe('an interrupted upload leaves no files', () => {
  it.each([
    ['by a closed connection', `${head(1000)}half`],
    ['by a closed connection before its first byte', head(1000)],
    [
      'by a closed connection inside a chunk',
      'PUT /api/media/a.bin HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
    ],
  ])('%s', async (_, sent) => {
    for (const end of ['destroy', 'end', 'resetAndDestroy'] as const) {
      const { socket, uploads } = await startMedia();
      const client = await socket(sent);
      await expect.poll(uploads, patience).toHaveLength(1);
      client.socket[end]();
      await expect.poll(uploads, patience).toEqual([]);
    }
  });

  it('by malformed chunks', async () => {
    const { socket, uploads } = await startMedia();
    const client = await socket(
      'PUT /api/media/a.bin HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n',
    );
    await expect.poll(uploads, patience).toHaveLength(1);
    client.socket.write('nonsense\r\n');
    await expect.poll(uploads, patience).toEqual([]);
  });

  it('and keeps the previous file', async () => {
    const { put, request, socket, uploads } = await startMedia();
    await put('a.bin', 'whole');
    const client = await socket(`${head(1000)}half`);
    await expect.poll(uploads, patience).toHaveLength(2);
    client.socket.destroy();
    await expect.poll(uploads, patience).toEqual(['a.bin']);
    expect(await (await request('/media/a.bin')).text()).toBe('whole');
  });

  it('by the end of the service: the next start deletes its temporary file only', async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, 'uploads'));
    const names = ['.upload-3b241101-e2bb-4255-8caf-4136c566a962', '.upload-mine', '.hidden', 'a.bin'];
    for (const name of names) writeFileSync(join(dataDir, 'uploads', name), 'x');
    const { uploads } = await startMedia({ dataDir });
    expect(uploads()).toEqual(names.slice(1).toSorted());
  });
});

describe('a misbehaving client', () => {
  it('gets 408 if it is too slow, and leaves no files', walk, async () => {
    const { socket, uploads } = await startMedia();
    const { socket: client, received } = await socket(head(1000));
    const drip = setInterval(() => client.write('.'), 500);
    await expect.poll(received, { timeout: 25_000 }).toMatch(/^HTTP\/1\.1 408 [^]*"request_timeout"/);
    clearInterval(drip);
    expect(uploads()).toEqual([]);
  });

  it('is disconnected if it keeps sending a refused upload', async () => {
    const { url } = await startTestService({ env: { SIGNAGE_MAX_UPLOAD_BYTES: '10' } });
    const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    let received = '';
    client.on('data', (data) => {
      received += data.toString('latin1');
    });
    client.write(head(10_000));
    const drip = setInterval(() => client.write('.'), 100);
    await expect.poll(() => received, patience).toMatch(/^HTTP\/1\.1 413 /);
    await expect.poll(() => client.closed, patience).toBe(true);
    clearInterval(drip);
  });
});

/** A file system of 4 MiB of its own, until the test ends; null: this machine does not allow one. */
const mountFolder = (): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-full-'));
  onTestFinished(() => rmdirSync(folder));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('umount', [folder]));
  return folder;
};

it('a folder that takes no writes deletes nothing, and says so (needs the right to mount one)', async ({ skip }) => {
  const uploadDir = mountFolder();
  if (uploadDir === null) return skip();
  const { put, request } = await startMedia({ uploadDir });
  expect((await put('offer.bin', 'x')).status).toBe(201);
  const remove = () => request('/api/media/offer.bin', { method: 'DELETE' });
  execFileSync('mount', ['-o', 'remount,ro', uploadDir]);
  const refused = await remove();
  expect([refused.status, (await errorOf(refused)).code]).toEqual([503, 'storage_unavailable']);
  expect((await request('/media/offer.bin')).status).toBe(200);
  execFileSync('mount', ['-o', 'remount,rw', uploadDir]);
  expect((await remove()).status).toBe(204);
  expect((await request('/media/offer.bin')).status).toBe(404);
});

describe('a full disk', () => {
  const full = { bsize: 4096, blocks: 2 ** 20, bavail: 1000 };
  const roomy = { ...full, bavail: 2 ** 20 };

  it('refuses an upload before it begins', async () => {
    const { put, uploads } = await startMedia({ statfs: async () => full });
    const response = await put('a.bin', 'x');
    expect(response.status).toBe(507);
    expect(await errorOf(response)).toMatchObject({ code: 'insufficient_storage' });
    expect(uploads()).toEqual([]);
  });

  it('ends an upload that does not fit', async () => {
    let looks = 0;
    const { put, uploads } = await startMedia({ statfs: async () => (looks++ === 0 ? roomy : full) });
    expect((await put('a.bin', Buffer.alloc(40 * 1024 ** 2))).status).toBe(507);
    expect(uploads()).toEqual([]);
  });

  it('that is real leaves no incomplete file (needs the right to mount one)', async ({ skip }) => {
    const folder = mountFolder();
    if (folder === null) return skip();
    const { put, request } = await startMedia({ uploadDir: folder, statfs: async () => roomy });
    expect((await put('small.bin', 'x')).status).toBe(201);
    const response = await put('large.bin', Buffer.alloc(8 * 1024 ** 2));
    expect(response.status).toBe(507);
    expect(await errorOf(response)).toMatchObject({ code: 'insufficient_storage' });
    expect(readdirSync(folder)).toEqual(['small.bin']);
    expect(await (await request('/media/small.bin')).text()).toBe('x');
  });

  it('that is real is freed by deleting a medium (needs the right to mount one)', async ({ skip }) => {
    const dataDir = mountSmallDisk(32);
    if (dataDir === null) return skip();
    const { put, request, uploads } = await startMedia({ dataDir, statfs: async () => roomy });
    expect((await put('film.bin', Buffer.alloc(1024 ** 2))).status).toBe(201);
    await expect
      .poll(() => statSync(join(dataDir, 'state.reserve'), { throwIfNoEntry: false })?.size)
      .toBe(4 * 1024 ** 2);
    const filler = openSync(join(dataDir, 'filler'), 'w');
    for (const bytes of [65_536, 1]) {
      expect(() => {
        for (;;) writeSync(filler, Buffer.alloc(bytes, 1));
      }).toThrow('ENOSPC');
    }
    closeSync(filler);
    expect((await request('/api/media/film.bin', { method: 'DELETE' })).status).toBe(204);
    expect(uploads()).toEqual([]);
  });
});
