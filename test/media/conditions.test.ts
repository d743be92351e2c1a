/** What PUT makes of ranges, codings and conditions (RFC 9110, 9.3.4, 13.1, 14.5). */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { codeOf, exchange, hostLine } from '../http/raw.ts';
import { shareTestService } from '../support/service.ts';

const service = shareTestService({ content: lobby });

const put = (name: string, body: string, headers: Record<string, string> = {}) =>
  service().get(`/api/media/${name}`, { method: 'PUT', body, headers });
const stored = (name: string) => readFileSync(join(service().dataDir, 'uploads', name), 'utf8');
const etagOf = async (name: string) => String((await service().get(`/media/${name}`)).headers.get('ETag'));

test('a file is created with 201 and replaced with 200, and its entity tag is the one that it is served with', async () => {
  const created = await put('new.txt', 'one');
  expect([created.status, created.headers.get('ETag')]).toEqual([201, await etagOf('new.txt')]);
  const replaced = await put('new.txt', 'two');
  expect([replaced.status, replaced.headers.get('ETag')]).toEqual([200, await etagOf('new.txt')]);
  expect(stored('new.txt')).toBe('two');
});

test('of concurrent uploads to a new name exactly one creates it', async () => {
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((body) => put('together.txt', body)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 201]);
});

describe('nothing is stored of', () => {
  const body = gzipSync('hello');
  test.each<[string, string[], number, string]>([
    ['a range', ['Content-Range: bytes 0-4/10', `Content-Length: ${body.length}`], 400, 'invalid_field'],
    ['an encoded body', ['Content-Encoding: gzip', `Content-Length: ${body.length}`], 415, 'unsupported_media_type'],
    [
      'a doubly encoded body',
      ['Content-Encoding: identity, br', `Content-Length: ${body.length}`],
      415,
      'unsupported_media_type',
    ],
    ['a compressed transfer', ['Transfer-Encoding: gzip, chunked'], 415, 'unsupported_media_type'],
  ])('%s', async (_, lines, status, code) => {
    const { url, dataDir } = service();
    const isChunked = lines[0]?.startsWith('Transfer');
    const bytes = isChunked
      ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
      : body;
    const answer = await exchange(url, ['PUT /api/media/part.txt HTTP/1.1', hostLine(url), ...lines], bytes);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    expect(existsSync(join(dataDir, 'uploads', 'part.txt'))).toBe(false);
  });
});

test('the codings identity and chunked are accepted', async () => {
  const { url } = service();
  const lines = [
    'PUT /api/media/plain.txt HTTP/1.1',
    hostLine(url),
    'Content-Encoding: Identity',
    'Transfer-Encoding: chunked',
  ];
  expect((await exchange(url, lines, '5\r\nhello\r\n0\r\n\r\n')).status).toBe(201);
  expect(stored('plain.txt')).toBe('hello');
});

describe('a condition', () => {
  test.each<[string, Record<string, string>, number]>([
    ['If-Match with the tag', { 'If-Match': 'TAG' }, 200],
    ['If-Match with the tag in a list', { 'If-Match': '"other", TAG' }, 200],
    ['If-Match with any', { 'If-Match': '*' }, 200],
    ['If-Match with another tag', { 'If-Match': '"other"' }, 412],
    ['If-Match with a weak tag, which is never strongly equal', { 'If-Match': 'W/TAG' }, 412],
    ['If-None-Match with any', { 'If-None-Match': '*' }, 412],
    ['If-None-Match with the tag', { 'If-None-Match': 'TAG' }, 412],
    ['If-None-Match with the weak tag', { 'If-None-Match': 'W/TAG' }, 412],
    ['If-None-Match with another tag', { 'If-None-Match': '"other"' }, 200],
    ['both, one of them not met', { 'If-Match': 'TAG', 'If-None-Match': '*' }, 412],
  ])('of %s is honoured for a file that is there', async (_, headers, status) => {
    await put('there.txt', 'before');
    const etag = await etagOf('there.txt');
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace('TAG', etag)]));
    expect((await put('there.txt', 'after', sent)).status).toBe(status);
    expect(stored('there.txt')).toBe(status === 200 ? 'after' : 'before');
  });

  test.each<[string, Record<string, string>, number]>([
    ['If-Match with any', { 'If-Match': '*' }, 412],
    ['If-Match with a tag', { 'If-Match': '"a"' }, 412],
    ['If-None-Match with any', { 'If-None-Match': '*' }, 201],
    ['If-None-Match with a tag', { 'If-None-Match': '"a"' }, 201],
  ])('of %s is honoured for a name that is free', async (label, headers, status) => {
    const name = `${label.replaceAll(' ', '-')}.txt`;
    expect((await put(name, 'x', headers)).status).toBe(status);
    expect(existsSync(join(service().dataDir, 'uploads', name))).toBe(status === 201);
  });

  test('holds for the copy in the media directory that /media serves', async () => {
    writeFileSync(join(service().dataDir, 'media', 'copy.txt'), 'copy');
    expect((await put('copy.txt', 'x', { 'If-None-Match': '*' })).status).toBe(412);
    expect((await put('copy.txt', 'x', { 'If-Match': await etagOf('copy.txt') })).status).toBe(200);
  });

  test('is met by exactly one of several concurrent uploads', async () => {
    const answers = await Promise.all(['a', 'b', 'c'].map((body) => put('once.txt', body, { 'If-None-Match': '*' })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 412, 412]);
  });

  test('holds for DELETE', async () => {
    await put('kept.txt', 'x');
    const remove = (headers: Record<string, string>) =>
      service().get('/api/media/kept.txt', { method: 'DELETE', headers });
    expect((await remove({ 'If-Match': '"other"' })).status).toBe(412);
    expect((await remove({ 'If-Match': await etagOf('kept.txt') })).status).toBe(204);
    expect((await remove({ 'If-Match': '*' })).status).toBe(404);
  });
});
