/** Which names the service answers to: the stop against DNS rebinding. */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { createGate } from '../../service/http/gate.ts';
import { lobby } from '../content/samples.ts';
import { shareTestService } from '../support/service.ts';
import { codeOf, exchange } from './raw.ts';

const path = '/api/screens/lobby/playlist';
const env = {
  SIGNAGE_ALLOWED_HOSTS: 'signage.example.com, Board.Example.org:8443',
  SIGNAGE_PUBLIC_URL: 'https://screens.example.net/',
};

const plain = shareTestService({ content: lobby });
const named = shareTestService({ content: lobby, env });

const ask = (lines: readonly string[], start = `GET ${path} HTTP/1.1`, service = plain) =>
  exchange(service().url, [start, ...lines]);

describe('answered', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1:8080',
    '192.168.1.20:9',
    '8.8.8.8',
    '[::1]',
    '[::1]:65535',
    '[2001:db8::1]:80',
    '[::ffff:10.0.0.1]',
    'localhost',
    'LOCALHOST:80',
    'localhost.',
    'player',
    'lobby-tv:8080',
    'lobby_tv',
    'player.local',
    'Player.Local:8080',
    'a.b.local',
    'box.localhost',
    'box.lan',
    'signage.home:8080',
    'box.internal',
    'signage.home.arpa',
    'box.localdomain',
    'Box.Corp',
    'box.intranet.',
    'a.b.private',
    hostname(),
    `${hostname().toUpperCase()}:80`,
  ])('%s', async (host) => {
    expect((await ask([`Host: ${host}`])).status).toBe(200);
  });

  test.each([
    'signage.example.com',
    'signage.example.com:81',
    'SIGNAGE.EXAMPLE.COM',
    'signage.example.com.',
    'board.example.org',
    'board.example.org:80',
    'screens.example.net',
    'screens.example.net:8080',
  ])('%s, if it is an allowed host', async (host) => {
    expect((await ask([`Host: ${host}`], `GET ${path} HTTP/1.1`, named)).status).toBe(200);
  });
});

describe('refused with 421', () => {
  test.each([
    'evil.com',
    'evil.com:8080',
    'evil.com.',
    'localhost.evil.com',
    'player.local.evil.com',
    '127.0.0.1.evil.com',
    '127.0.0.1.nip.io',
    'evil.mylocal',
    'evil.mylan',
    'box.lan.evil.com',
    'home.arpa.evil.com',
    'box.arpa',
    'evil.mylocalhost',
    'sub.signage.example.com',
    'example.com',
    '127.1',
    '0x7f.0.0.1',
    '256.0.0.1',
    '',
    '.',
    ':80',
    '[::1',
    '[127.0.0.1]',
    '::1',
    '[localhost]',
    '[::1%25eth0]',
    'local host',
    'localhost:http',
    'localhost:123456',
    'localhost/',
    'localhost@evil.com',
    'user@localhost',
    'localhost, evil.com',
    'localhost#',
    'b\u00fccher',
  ])('%s', async (host) => {
    const answer = await ask([`Host: ${host}`], `GET ${path} HTTP/1.1`, named);
    expect([answer.status, codeOf(answer)]).toEqual([421, 'host_refused']);
    expect(answer.body).not.toContain('Hello');
  });

  test.each<[string, string[]]>([
    ['no Host', []],
    ['two alike', ['Host: localhost', 'Host: localhost']],
    ['two that differ', ['Host: localhost', 'Host: evil.com']],
    ['a second one in disguise', ['Host: localhost', 'hOsT: localhost']],
    ['only a forwarded one', ['X-Forwarded-Host: localhost']],
  ])('%s', async (_, lines) => {
    for (const version of ['1.1', '1.0']) {
      const answer = await ask(lines, `GET ${path} HTTP/${version}`);
      expect([version, answer.status, codeOf(answer)]).toEqual([version, 421, 'host_refused']);
    }
  });

  test.each([
    'GET /',
    'GET /screen/lobby',
    'GET /healthz',
    'GET /gone',
    'HEAD /',
    'POST /api/screens/lobby/commands',
    'OPTIONS /',
  ])('%s as well', async (start) => {
    expect((await ask(['Host: evil.com'], `${start} HTTP/1.1`)).status).toBe(421);
  });
});

test('HTTP/1.0 with an accepted Host is served', async () => {
  expect((await ask(['Host: localhost'], `GET ${path} HTTP/1.0`)).status).toBe(200);
});

describe('a request target in absolute form counts as its path where its authority is the Host', () => {
  test.each([
    ['http://localhost', 'localhost'],
    ['http://LOCALHOST:80', 'localhost'],
    ['https://box.lan:8443', 'box.lan:8443'],
    ['HTTP://127.0.0.1:8080', '127.0.0.1:8080'],
  ])('%s%s', async (origin, host) => {
    const absolute = await ask([`Host: ${host}`], `GET ${origin}${path}?x HTTP/1.1`);
    expect([absolute.status, absolute.body]).toEqual([200, (await ask([`Host: ${host}`])).body]);
    expect((await ask([`Host: ${host}`], `GET ${origin} HTTP/1.1`)).body).toContain('<html');
  });
});

test('the machine is known by its name in each of its search domains', () => {
  const gate = createGate({
    machineName: 'lobby-box.example.com',
    searchDomains: ['branch.example.com'],
    publicUrl: null,
    allowedHosts: [],
  });
  const check = (host: string) => () =>
    gate.checkHost({ method: 'GET', url: '/', rawHeaders: ['Host', host], headers: { host } });
  expect(check('lobby-box.branch.example.com')).not.toThrow();
  expect(check('lobby-box.example.com:8080')).not.toThrow();
  expect(check('other.branch.example.com')).toThrow();
});

describe('a request target that is not a path is malformed', () => {
  test.each([
    '//evil.com/',
    `//evil.com${path}`,
    `http://evil.com${path}`,
    `http://localhost:81${path}`,
    `http://user@localhost${path}`,
    `ftp://localhost${path}`,
    'http://localhost//evil.com/',
    '*',
    'evil.com:80',
    'api',
  ])('%s', async (target) => {
    const answer = await ask(['Host: localhost'], `${target === '*' ? 'OPTIONS' : 'GET'} ${target} HTTP/1.1`);
    expect(answer.status).toBe(400);
    // The envelope of errors, for each path under /api.
    if (/^\w+:.*\/api\//.test(target))
      expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'invalid_request' } });
    expect(answer.body).not.toContain('Hello');
  });

  test('CONNECT is rejected', async () => {
    expect((await ask(['Host: localhost'], 'CONNECT evil.com:443 HTTP/1.1')).body).toBe('');
  });
});
