import type { NetworkInterfaceInfo } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Interfaces, lanHost, publicBase } from '../../service/domain/lan-address.ts';

const info = (address: string): NetworkInterfaceInfo => {
  const common = {
    address,
    netmask: '',
    mac: '02:00:00:00:00:01',
    cidr: null,
    internal: /^(127\.|::1$)/.test(address),
  };
  return address.includes(':') ? { ...common, family: 'IPv6', scopeid: 0 } : { ...common, family: 'IPv4' };
};

/** Interfaces from their addresses, in the order of the system. */
const machine = (interfaces: Record<string, string[]>): Interfaces =>
  Object.fromEntries(Object.entries(interfaces).map(([name, addresses]) => [name, addresses.map(info)]));

const lo = ['127.0.0.1', '::1'];

describe('the address in the LAN', () => {
  it.each<[string, Record<string, string[]>, string | null]>([
    ['is none without a network', { lo }, null],
    ['is none with nothing but a link-local IPv6 address', { lo, eth0: ['fe80::1'] }, null],
    ['is the only one there is', { lo, eth0: ['192.168.1.20', 'fe80::1'] }, '192.168.1.20'],
    ['is not the first bridge of containers', { docker0: ['172.17.0.1'], eth0: ['192.168.1.20'] }, '192.168.1.20'],
    ['is not a named bridge of containers', { 'br-1a2b3c4d5e6f': ['172.18.0.1'], enp3s0: ['10.0.0.7'] }, '10.0.0.7'],
    ["is an administrator's bridge", { br0: ['192.168.1.20'], virbr0: ['192.168.122.1'] }, '192.168.1.20'],
    ['is not a tunnel', { tailscale0: ['100.101.102.103'], wg0: ['10.8.0.2'], wlan0: ['10.0.0.7'] }, '10.0.0.7'],
    ["is not a Mac's tunnel", { utun3: ['10.8.0.2'], en0: ['192.168.1.20'] }, '192.168.1.20'],
    ["is not Windows' virtual switch", { 'vEthernet (WSL)': ['172.20.0.1'], 'Wi-Fi': ['10.0.0.7'] }, '10.0.0.7'],
    [
      "is not Windows' own hot spot",
      { 'Local Area Connection* 2': ['192.168.137.1'], Ethernet: ['10.0.0.7'] },
      '10.0.0.7',
    ],
    ['is private rather than public', { eth0: ['203.0.113.5'], eth1: ['192.168.1.20'] }, '192.168.1.20'],
    ['is public where nothing is private', { lo, eth0: ['203.0.113.5', 'fd00::2'] }, '203.0.113.5'],
    ['is the first of equals', { eth0: ['10.0.0.7'], wlan0: ['192.168.1.20'] }, '10.0.0.7'],
    ['is not self-assigned where there is better', { eth0: ['169.254.9.9'], wlan0: ['10.0.0.7'] }, '10.0.0.7'],
    ['is self-assigned rather than none', { lo, eth0: ['169.254.9.9', 'fe80::1'] }, '169.254.9.9'],
    ['is self-assigned rather than virtual', { docker0: ['172.17.0.1'], eth0: ['169.254.9.9'] }, '169.254.9.9'],
    ['is IPv6 where there is no IPv4', { lo, eth0: ['fe80::1', '2001:db8::2'] }, '[2001:db8::2]'],
    ['is a unique local address first', { eth0: ['2001:db8::2', 'fd00::2'] }, '[fd00::2]'],
    ["is IPv6 rather than containers'", { docker0: ['172.17.0.1'], eth0: ['fd00::2'] }, '[fd00::2]'],
    ['is virtual where nothing else is there', { lo, tailscale0: ['100.101.102.103'] }, '100.101.102.103'],
    ['is 172.32 no more than any public one', { eth0: ['172.32.0.1'], eth1: ['172.31.0.1'] }, '172.31.0.1'],
  ])('%s', (_, interfaces, host) => {
    expect(lanHost(machine(interfaces), '::')).toBe(host);
  });
});

it.each([
  ['0.0.0.0', { lo, eth0: ['192.168.1.20', 'fd00::2'] }, '192.168.1.20'],
  ['0.0.0.0', { lo, eth0: ['fd00::2'] }, null],
  ['::', { lo, eth0: ['fd00::2'] }, '[fd00::2]'],
  ['10.0.0.7', { lo, eth0: ['192.168.1.20'], eth1: ['10.0.0.7'] }, '10.0.0.7'],
  ['fd00::2', { lo, eth0: ['192.168.1.20', 'fd00::2'] }, '[fd00::2]'],
  ['127.0.0.1', { lo, eth0: ['192.168.1.20'] }, null],
  ['::1', { lo, eth0: ['192.168.1.20'] }, null],
  ['localhost', { lo, eth0: ['192.168.1.20'] }, null],
] as [string, Record<string, string[]>, string | null][])(
  'a service that listens on %s names an address that it listens on',
  (listenHost, interfaces, host) => {
    expect(lanHost(machine(interfaces), listenHost)).toBe(host);
  },
);

describe('the public base', () => {
  const lan = machine({ lo, eth0: ['192.168.1.20', 'fd00::2'] });
  const base = (host: string, port = 8080, publicUrl: string | null = null) =>
    publicBase(publicUrl, { host, port }, lan, '::');

  it.each([
    ['192.168.1.20:8080', 'http://192.168.1.20:8080'],
    ['10.0.0.7', 'http://10.0.0.7'],
    ['Lobby.local:8080', 'http://lobby.local:8080'],
    ['lobby:80', 'http://lobby'],
    ['signage.example.com', 'http://signage.example.com'],
    ['[fd00::2]:8080', 'http://[fd00::2]:8080'],
    ['localhostess:8080', 'http://localhostess:8080'],
  ])('is where the request came to: %s', (host, expected) => {
    expect(base(host)).toBe(expected);
  });

  it.each([
    'localhost:8080',
    'LOCALHOST',
    'localhost.:8080',
    'player.localhost:8080',
    '127.0.0.1:9000',
    '127.1.2.3',
    '2130706433',
    '0.0.0.0:8080',
    '[::1]:8080',
    '[::]:8080',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]:8080',
    '4294967296',
    '',
  ])("is in the LAN, at the service's own port, where the request came to %j", (host) => {
    expect(base(host)).toBe('http://192.168.1.20:8080');
  });

  it('leaves out the port that a browser supplies', () => {
    expect(base('localhost', 80)).toBe('http://192.168.1.20');
  });

  it('is the given one, whatever the request', () => {
    expect(base('localhost', 8080, 'https://signage.example.com/lobby')).toBe('https://signage.example.com/lobby');
    expect(base('10.0.0.7', 8080, 'https://signage.example.com')).toBe('https://signage.example.com');
  });

  it('is none where a request came by loopback and there is no network', () => {
    expect(publicBase(null, { host: 'localhost', port: 8080 }, machine({ lo }), '::')).toBe(null);
  });

  it('is never loopback, and always a URL', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    const names = ['localhost', 'a.localhost', 'box', 'box.local', '[::1]', '[::]', '[::ffff:7f00:1]', '[fd00::9]'];
    const host = fc.oneof(
      fc.constantFrom(...names),
      fc.tuple(fc.constantFrom(127, 10, 0, 192), octet, octet, octet).map((octets) => octets.join('.')),
      fc.integer({ min: 0, max: 2 ** 32 }).map(String),
    );
    fc.assert(
      fc.property(host, fc.integer({ min: 1, max: 65535 }), (name, port) => {
        const url = new URL(base(`${name}:${port}`, port) ?? '');
        expect(url.hostname).not.toMatch(/^(127\.|0\.0\.0\.0|localhost|\[::1?\])|localhost$|7f00:/);
      }),
    );
  });
});
