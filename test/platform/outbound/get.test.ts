/** Where requests may lead, and what goes with them. */
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { NetworkScope } from '../../../service/domain/network-scope.ts';
import { createGet } from '../../../service/platform/outbound/get.ts';
import { createLocator } from '../../../service/platform/outbound/locate.ts';
import { type Remote, startRemote } from '../../media/remote.ts';

const { signal } = new AbortController();

/** Names of one server, each in a network of its own. */
const places: Record<string, NetworkScope> = { 'far.test': 0, 'near.test': 1, 'here.test': 2 };
const startPlaces = async () => {
  const remote = await startRemote({ host: '0.0.0.0' });
  const addresses = Object.keys(places).map((name, at) => [name, `127.0.0.${at + 1}`] as const);
  const lookUp = async (host: string) =>
    addresses.filter(([name]) => name === host).map(([, address]) => ({ address, family: 4 }));
  const judge = (address: string): NetworkScope =>
    places[addresses.find(([, each]) => each === address)?.[0] ?? ''] ?? 2;
  const at = (name: string, path: string): string => remote.url.replace('127.0.0.1', `${name}.test`) + path;
  return { remote, at, get: createGet(createLocator(lookUp, judge)) };
};
const redirect = (remote: Remote, from: string, to: string): void =>
  remote.answer(from, (_, response) => response.writeHead(302, { Location: to }).end());

describe('a redirect', () => {
  it.each<[way: string[], arrives: boolean]>([
    [['far'], true],
    [['far', 'far'], true],
    [['near', 'far'], true],
    [['here', 'near', 'far'], true],
    [['near', 'near'], true],
    [['far', 'near'], false],
    [['far', 'here'], false],
    [['near', 'here'], false],
    [['here', 'far', 'here'], false],
    [['near', 'far', 'near'], false],
    [['here', 'near', 'here'], false],
  ])('by way of %j is followed: %s', async (way, arrives) => {
    const { remote, at, get } = await startPlaces();
    for (const [hop, name] of way.entries()) if (hop > 0) redirect(remote, `/${hop - 1}`, at(name, `/${hop}`));
    remote.answer(`/${way.length - 1}`, (_, response) => response.end('arrived'));
    const getting = get(at(way[0] ?? '', '/0'), { headers: {}, signal });
    if (arrives) {
      const { response, url, nearness } = await getting;
      response.destroy();
      expect([response.statusCode, url.href]).toEqual([200, at(way.at(-1) ?? '', `/${way.length - 1}`)]);
      expect(nearness).toBe(Math.min(...way.map((name) => places[`${name}.test`] ?? 2)));
    } else {
      await expect(getting).rejects.toThrow(/^it redirects into a network that is nearer/);
      expect(remote.requests).toHaveLength(way.length - 1);
    }
  });

  it('keeps the credentials within their origin, leads away without them, and takes none from where it leads', async () => {
    const { remote, at, get } = await startPlaces();
    redirect(remote, '/', '/within');
    redirect(remote, '/within', at('far', '/away').replace('//', '//its:own@'));
    redirect(remote, '/away', '/end');
    remote.answer('/end', (_, response) => response.end());
    for (const credentials of [true, false]) {
      const address = at('near', '/').replace('//', '//me:p%40ss@');
      const { response, url } = await get(address, { headers: {}, signal, credentials });
      response.destroy();
      expect(url.href).toBe(at('far', '/end'));
    }
    const basic = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    const sent = remote.requests.map(({ headers }) => headers.authorization);
    expect(sent).toEqual([basic, basic, ...Array(6).fill(undefined)]);
  });
});

it.each<[name: string, reach: NetworkScope, arrives: boolean]>([
  ['far', 0, true],
  ['near', 0, false],
  ['here', 0, false],
  ['near', 1, true],
  ['here', 1, false],
  ['here', 2, true],
])('a name that stands for an address that is %s is asked with a reach of %i: %s', async (name, reach, arrives) => {
  const { remote, at, get } = await startPlaces();
  remote.answer('/', (_, response) => response.end());
  const got = await get(at(name, '/'), { headers: {}, signal, reach }).then(
    ({ response }) => response.destroy().statusCode,
    (error: Error) => error.message,
  );
  expect(got).toBe(arrives ? 200 : 'it is in a network that is nearer than where it was named');
  expect(remote.requests).toHaveLength(arrives ? 1 : 0);
});

const ownAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

it.skipIf(ownAddress === undefined)(
  'no redirect leads from the network to this machine (needs a network)',
  async () => {
    const remote = await startRemote({ host: '0.0.0.0' });
    const outside = remote.url.replace('127.0.0.1', ownAddress ?? '');
    remote.answer('/end', (_, response) => response.end());
    redirect(remote, '/in', `${remote.url}/end`);
    redirect(remote, '/out', `${outside}/end`);
    const get = createGet();
    await expect(get(`${outside}/in`, { headers: {}, signal })).rejects.toThrow(/nearer than where it was named/);
    for (const url of [`${remote.url}/out`, `${outside}/end`]) {
      const { response } = await get(url, { headers: {}, signal });
      expect(response.destroy().statusCode).toBe(200);
    }
  },
);
