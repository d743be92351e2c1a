/** Which addresses are this service's own. */
import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { createOwnAuthority, createOwnHost, isOwnClient } from '../../service/http/authority.ts';

const info = (address: string) => [{ address }] as never;
const names = {
  machineName: 'Box-7.lan',
  publicUrl: 'https://signs.example.com/',
  allowedHosts: ['player.example.com'],
};
const interfaces = () => ({
  lo: info('127.0.0.1'),
  eth0: [...info('192.168.1.20'), ...info('fe80::1%eth0'), ...info('fd00::7')] as never,
});
const isOwn = createOwnAuthority(names, interfaces);
const reached = { host: '10.0.0.1:9000', port: 8080 };

test.each([
  'http://10.0.0.1:9000/',
  'https://signs.example.com/',
  'https://SIGNS.example.com:443/',
  'https://player.example.com/',
  'http://player.example.com:8080/',
  'http://localhost:8080/',
  'http://LOCALHOST.:8080/',
  'http://screen.localhost:8080/',
  'http://127.0.0.1:8080/',
  'http://127.1:8080/',
  'http://0x7f000001:8080/',
  'http://2130706433:8080/',
  'http://0.0.0.0:8080/',
  'http://[::1]:8080/',
  'http://[0:0:0:0:0:0:0:1]:8080/',
  'http://[::ffff:127.0.0.1]:8080/',
  'http://192.168.1.20:8080/',
  'http://[::ffff:192.168.1.20]:8080/',
  'http://192.168.1.20.:8080/',
  'http://[FD00::7]:8080/',
  'http://box-7:8080/',
  'http://BOX-7.local:8080/',
  'http://box-7.lan:8080/',
  'http://someone:secret@localhost:8080/',
])('%s names this service', (url) => {
  expect(isOwn(new URL(url), reached)).toBe(true);
});

test.each([
  'http://localhost/',
  'http://localhost:3000/',
  'http://10.0.0.1:8080/',
  'http://192.168.1.21:8080/',
  'http://192.168.1.20/',
  'http://box-7/',
  'http://box-8:8080/',
  'https://signs.example.com:8443/',
  'http://localhost:8080@example.com/',
  'http://localhost.example.com:8080/',
])('%s does not name this service', (url) => {
  expect(isOwn(new URL(url), reached)).toBe(false);
});

test.each([
  ['box.local', 'http://box.local/', true],
  ['box.local', 'http://box.local:80/', true],
  ['box.local:80', 'http://box.local/', true],
  ['box.local', 'https://box.local/', true],
  ['box.local:8443', 'https://box.local/', false],
])('for a request to host %s, %s: %s', (host, url, expected) => {
  expect(isOwn(new URL(url), { ...reached, host })).toBe(expected);
});

const allowedHosts = [...names.allowedHosts, '10.0.0.9', '[fd00::9]'];
const isOwnHost = createOwnHost({ ...names, allowedHosts, searchDomains: ['shop.example.com'] }, interfaces);

test.each([
  ['192.168.1.20:8080', true],
  ['192.168.1.20:8081', false],
  ['192.168.1.20', false],
  ['192.168.1.21:8080', false],
  ['[fd00::7]:8080', true],
  ['127.0.0.1:8080', true],
  ['localhost:8080', true],
  ['localhost:9000', false],
  ['127.0.0.1:9000', false],
  // Names of the machine, the public URL, and what is allowed, which counts on every port.
  ['BOX-7:8080', true],
  ['box-7.lan', true],
  ['box-7.local', true],
  ['box-7.shop.example.com', true],
  ['signs.example.com', true],
  ['signs.example.com:443', true],
  ['signs.example.com:8443', false],
  ['player.example.com:1234', true],
  ['10.0.0.9:1234', true],
  ['[fd00::9]:1', true],
  ['box-8:8080', false],
  ['evil.local:8080', false],
  ['10.0.0.5:8080', false],
  ['a b', false],
])('a request that is signed for the host %s names this box: %s', (host, expected) => {
  expect(isOwnHost(host, [8080])).toBe(expected);
});

test('an address of this machine names this box with each port that it listens on', () => {
  const named = ['192.168.1.20:8080', '192.168.1.20:8443', '192.168.1.20:443', '192.168.1.20'];
  expect(named.map((host) => isOwnHost(host, [8080, 8443]))).toEqual([true, true, false, false]);
});

test('a client on this machine has one of its addresses', () => {
  const own = Object.values(networkInterfaces()).flatMap((infos = []) => infos.map(({ address }) => address));
  for (const address of [...own, '127.0.0.1', '::1']) expect(isOwnClient(address)).toBe(true);
  for (const address of ['', '203.0.113.9', '2001:db8::9']) expect(isOwnClient(address)).toBe(false);
});

test.each([80, 443])('a host without a port names this box at port %i', (port) => {
  expect(isOwnHost('192.168.1.20', [port])).toBe(true);
});
