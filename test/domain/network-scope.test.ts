import { describe, expect, it } from 'vitest';
import {
  isSiteAddress,
  isThisMachine,
  listensAlone,
  scopeOf,
  scopeOfAddress,
} from '../../service/domain/network-scope.ts';

const hostOf = (host: string): string => new URL(`http://${host}/`).hostname;

it.each([
  ['93.184.216.34', 0],
  ['2606:2800:220:1::1', 0],
  ['172.15.0.1', 0],
  ['172.32.0.1', 0],
  ['::ffff:8.8.8.8', 0],
  ['192.168.1.20', 1],
  ['172.16.0.1', 1],
  ['172.31.255.255', 1],
  ['10.1.2.3', 1],
  ['100.64.0.1', 1],
  ['fd00::1', 1],
  ['::ffff:10.0.0.1', 1],
  ['fe80::1', 1],
  ['fe80::1%eth0', 1],
  ['febf::1', 1],
  ['fd00:ec2::253', 1],
  ['fd00:ec2::254', 2],
  ['127.0.0.1', 2],
  ['::1', 2],
  ['::', 2],
  ['0.0.0.0', 2],
  ['169.254.169.254', 2],
  ['::ffff:169.254.169.254', 2],
  ['::ffff:127.0.0.1', 2],
  ['::ffff:7f00:1', 2],
  ['::127.0.0.1', 2],
  ['64:ff9b::7f00:1', 2],
  ['64:ff9b::169.254.169.254', 2],
  ['64:ff9b::10.0.0.1', 1],
  ['64:ff9b::8.8.8.8', 0],
  ['64:ff9b:1::8.8.8.8', 1],
  ['64:ff9b:1::127.0.0.1', 2],
  ['2002:7f00:1::', 2],
  ['2002:a9fe:a9fe::1', 2],
  ['2002:c0a8:114::1', 1],
  ['2002:808:808::1', 0],
  ['2001:0:4136:e378:8000:63bf:80ff:fffe', 2],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 0],
  ['::ffff:0:127.0.0.1', 2],
  ['::ffff:0:8.8.8.8', 0],
  ['192.0.0.170', 1],
  ['198.18.0.1', 1],
  ['198.19.255.255', 1],
  ['198.20.0.1', 0],
  ['2001:2::1', 1],
  ['2001:200::1', 0],
  ['224.0.0.251', 1],
  ['239.255.255.250', 1],
  ['240.0.0.1', 1],
  ['255.255.255.255', 1],
  ['223.255.255.255', 0],
  ['ff02::fb', 1],
  ['ff0e::1', 1],
  ['fec0::1', 1],
])('%s is at distance %i', (address, expected) => {
  expect(scopeOfAddress(address)).toBe(expected);
});

describe('this machine', () => {
  it.each([
    ...['localhost', 'LOCALHOST', 'localhost.', 'player.localhost', 'player.localhost.'],
    ...['127.0.0.1', '127.1', '127.255.255.254', '127.0.0.1.', '2130706433', '0x7f.1', '0x7f000001', '0177.0.0.1'],
    ...['0', '0.0.0.0', '0.0.0.1', '①②⑦.0.0.1'],
    ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:0.0.0.0]'],
  ])('is %s', (host) => {
    expect([isThisMachine(hostOf(host)), isSiteAddress(hostOf(host)), scopeOf(new URL(`http://${host}/`))]).toEqual([
      true,
      false,
      2,
    ]);
  });

  it.each(['localhostess', 'localhost.example', '128.0.0.1', '10.0.0.1', '[fd00::1]', '[::2:0:1]', 'box.local'])(
    'is not %s',
    (host) => {
      expect(isThisMachine(hostOf(host))).toBe(false);
    },
  );
});

it.each([
  ['192.168.1.1', true],
  ['169.254.7.7', true],
  ['[fd00::1]', true],
  ['[::ffff:10.0.0.1]', true],
  ['8.8.8.8', false],
  ['[2606:4700::1111]', false],
  ['box.local', false],
  ['box', false],
])('%s is the address of a machine of the site: %s', (host, expected) => {
  expect(isSiteAddress(hostOf(host))).toBe(expected);
});

it.each([
  ['127.0.0.1', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.1.20', false],
])('who listens on %s is alone with it: %s', (host, expected) => {
  expect(listensAlone(host)).toBe(expected);
});

it.each([
  ['printer', 1],
  ['printer.', 1],
  ['nas.local', 1],
  ['192.168.1.20', 1],
  ['[fe80::1]', 1],
  ['169.254.169.254', 2],
  ['news.example', 0],
  ['local.example', 0],
  ['8.8.8.8', 0],
])('%s says that it is at distance %i', (host, expected) => {
  expect(scopeOf(new URL(`http://${host}/`))).toBe(expected);
});
