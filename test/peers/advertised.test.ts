/** The advertised addresses that a box accepts. */
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import type { PeerState } from '../../service/contract/peers.ts';
import { acceptedUrl, advertisedUrl, hostOf } from '../../service/peers/advertised.ts';
import type { Caller } from '../../service/peers/call.ts';
import { createRegistry } from '../../service/peers/registry.ts';
import { patience } from '../support/observe.ts';
import { emptyPeerState, startBox, unitContext } from './support.ts';

const stranger = 'http://10.9.9.9:4444';

it.each<[string, string | null]>([
  ['http://192.168.1.20:8080', 'http://192.168.1.20:8080'],
  ['http://192.168.1.20:80/', 'http://192.168.1.20'],
  ['https://10.0.0.7', 'https://10.0.0.7'],
  ['http://169.254.3.4:8080', 'http://169.254.3.4:8080'],
  ['http://[fd00::2]:8080', 'http://[fd00::2]:8080'],
  // Internet addresses, and host names, which may resolve to any address later.
  ['http://203.0.113.9:8080', null],
  ['http://victim.example', null],
  ['http://box.local:8080', null],
  ['http://printer', null],
  // Addresses of this machine.
  ['http://127.0.0.1:9222', null],
  ['http://0.0.0.0:9222', null],
  ['http://localhost:631', null],
  ['http://localhost.:631', null],
  ['http://x.localhost', null],
  ['http://[::1]:80', null],
  ['http://[::]', null],
  ['http://[::ffff:127.0.0.1]', null],
  ['http://2130706433', null],
  ['http://0x7f.1', null],
  // URLs that could trigger an action.
  ['http://192.168.1.1/reboot.cgi', null],
  ['http://192.168.1.1/?do=reboot', null],
  ['http://192.168.1.1/#', 'http://192.168.1.1'],
  ['http://192.168.1.1/#x', null],
  ['http://admin:admin@192.168.1.1', null],
  ['ftp://192.168.1.1', null],
  ['file:///etc/passwd', null],
  ['nonsense', null],
])('%s, advertised by a stranger, is accepted as %s', (url, expected) => {
  expect(acceptedUrl(url, stranger)).toBe(expected);
});

it.each(['http://127.0.0.1:8081', 'http://localhost:8081', 'http://[::1]:8081'])(
  'a peer at %s may advertise others on this machine',
  (teller) => {
    expect(acceptedUrl('http://127.0.0.1:8082', teller)).toBe('http://127.0.0.1:8082');
    expect(acceptedUrl('http://127.0.0.1:8082/x', teller)).toBe(null);
  },
);

it.each<[url: string, answered: string, told: string]>([
  ['http://lobby:8080', '172.18.0.4', 'http://172.18.0.4:8080'],
  ['http://lobby', '::ffff:172.18.0.4', 'http://172.18.0.4'],
  ['http://lobby.local:8080', 'fd00::2', 'http://[fd00::2]:8080'],
  ['http://lobby.local:8080', 'fe80::2%eth0', 'http://lobby.local:8080'],
  ['http://lobby.local:8080', 'febf::2', 'http://lobby.local:8080'],
  ['http://lobby:8080', '', 'http://lobby:8080'],
  ['http://lobby/signage', '172.18.0.4', 'http://172.18.0.4/signage'],
  ['https://lobby.example', '172.18.0.4', 'https://lobby.example'],
  ['http://10.0.0.7:8080', '172.18.0.4', 'http://10.0.0.7:8080'],
  ['http://[fd00::2]:8080', 'fd00::3', 'http://[fd00::2]:8080'],
])('%s, at which %s answers, is advertised as %s', (url, answered, told) => {
  expect(advertisedUrl(url, hostOf(answered))).toBe(told);
});

it('a box that is configured by host name is advertised by the address that answers', async () => {
  const one = await startBox([]);
  const other = await startBox([{ url: one.url.replace('127.0.0.1', 'localhost') }]);
  const told = async () => ((await (await other.get('/api/peers/state')).json()) as PeerState).peers;
  await expect.poll(told, patience).toMatchObject([{ url: one.url }]);
});

it('an unauthenticated peer can make a box call only site addresses, and only the state path', async () => {
  const told = ['http://0.0.0.0:9222/json/new?x#', 'http://me:pw@192.168.1.1/reboot.cgi?do=1#', 'http://10.9.9.8:8080'];
  const state: PeerState = {
    ...emptyPeerState,
    nodeId: randomUUID(),
    peers: told.map((url) => ({ nodeId: randomUUID(), url })),
  };
  const asked = new Set<string>();
  const caller = {
    call: async (base: string, { path }: { path: string }) => {
      asked.add(new URL(base + path).href.replace(/\?from=.*/, ''));
      return base === stranger
        ? { ok: true, status: 200, body: state, address: '10.9.9.9' }
        : { ok: false, status: null, answered: false, code: null, reason: 'is not there' };
    },
    close: () => {},
  } as unknown as Caller;
  const registry = createRegistry(unitContext(), { site: 'default', staticPeers: [], caller });
  onTestFinished(registry.close);
  registry.start(8080);
  registry.onContact(state.nodeId, '10.9.9.9', 4444, false);
  await expect.poll(() => [...asked].length, patience).toBe(2);
  expect([...asked]).toEqual([`${stranger}/api/peers/state`, 'http://10.9.9.8:8080/api/peers/state']);
});
