/** Whose address a connection is said to have, with proxies and without. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { ConnectionSnapshot } from '../../service/contract/connections.ts';
import { createClientAddress } from '../../service/http/client-address.ts';
import { lobby } from '../content/samples.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService } from '../support/service.ts';

const addressWith = async (trustProxy: string, forwarded: string | undefined) => {
  const service = await startTestService({ content: lobby, env: { SIGNAGE_TRUST_PROXY: trustProxy } });
  const headers: Record<string, string> = forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded };
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/api/screens/lobby/socket`, 'signage.v1', {
    headers,
  });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'hello', clientId: 'a', page: '/screen/lobby' }));
  await once(socket, 'message');
  const snapshot = (await (await service.get('/api/screens/lobby/connections')).json()) as ConnectionSnapshot;
  const [connection] = snapshot.connections;
  expect(connection?.remoteAddress).toBe('127.0.0.1');
  return connection?.clientIp;
};

test.each<[string, string, string | undefined, string]>([
  ['nobody is believed', 'off', '203.0.113.7', '127.0.0.1'],
  ['anybody is believed', 'on', '203.0.113.7', '203.0.113.7'],
  ['of many, the last, which the proxy itself has seen', 'on', '1.2.3.4, 203.0.113.7', '203.0.113.7'],
  ['an IPv6 address', 'on', '2001:db8::7', '2001:db8::7'],
  ['an IPv4 address in IPv6 clothes', 'on', '::ffff:203.0.113.7', '203.0.113.7'],
  ['what is no address counts for nothing', 'on', '203.0.113.7, unknown, <script>', '127.0.0.1'],
  ['nor does what stands before it, which a client can forge', 'on', '1.2.3.4, _hidden:80', '127.0.0.1'],
  ['nothing is forwarded', 'on', undefined, '127.0.0.1'],
  ['the listed proxy is believed', '127.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['a proxy of the listed range is believed', '127.0.0.0/8', '203.0.113.7', '203.0.113.7'],
  ['another proxy is not', '10.0.0.0/8,::1', '203.0.113.7', '127.0.0.1'],
  [
    'what a listed proxy says of a listed one is read on',
    '127.0.0.1, 10.0.0.0/8',
    '9.9.9.9, 203.0.113.7, 10.0.0.4',
    '203.0.113.7',
  ],
  ['with proxies alone, the first', '127.0.0.1,10.0.0.0/8', '10.0.0.9, 10.0.0.4', '10.0.0.9'],
])('%s', async (_, trustProxy, forwarded, expected) => {
  expect(await addressWith(trustProxy, forwarded)).toBe(expected);
});

test.each([
  ['203.0.113.7:555', '203.0.113.7'],
  ['9.9.9.9, 203.0.113.7:555', '203.0.113.7'],
  ['9.9.9.9:1, 203.0.113.7:555, 10.0.0.4:80', '203.0.113.7'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:80', '2001:db8::1'],
  ['[::ffff:203.0.113.7]:80', '203.0.113.7'],
  ['2001:db8::1:80', '2001:db8::1:80'],
  ['203.0.113.7:', '127.0.0.1'],
  ['203.0.113.7:80:80', '127.0.0.1'],
  ['203.0.113:80', '127.0.0.1'],
  ['[203.0.113.7:80', '127.0.0.1'],
  ['[example]:80', '127.0.0.1'],
])('of the client that a proxy writes as %s, the address is %s', (forwarded, clientIp) => {
  const addressOf = createClientAddress(['127.0.0.1', '10.0.0.0/8']);
  const request = { socket: { remoteAddress: '127.0.0.1' } as Socket, headers: { 'x-forwarded-for': forwarded } };
  expect(addressOf(request)).toMatchObject({ clientIp, remoteAddress: '127.0.0.1' });
});

test('the addresses of an IPv6 network share the lines of the log', async () => {
  const service = await startTestService({ content: lobby, env: { SIGNAGE_TRUST_PROXY: 'on' } });
  for (let at = 1; at <= 30; at += 1) {
    await joinScreen(service, 'lobby', {}, { headers: { 'X-Forwarded-For': `2001:db8:1:2::${at}` } });
  }
  expect(service.log().match(/"address":"2001:db8:1:2::/g)).toHaveLength(20);
});
