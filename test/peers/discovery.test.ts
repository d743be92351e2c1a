/** Boxes find each other in a real network, with no settings. */
import { describe, expect, test } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { createNetwork, type Host, hasNetworks } from './network.ts';

const patience = { timeout: 25_000, interval: 200 };

/** The addresses of the peers that answer, as a box sees them. */
const aliveAt = async (host: Host): Promise<string[]> => {
  const health = (await host.get('/healthz')) as Health | null;
  return (health?.peers ?? [])
    .filter(({ state }) => state === 'alive')
    .map(({ url }) => new URL(url).hostname)
    .toSorted();
};

const othersOf = (host: Host, hosts: readonly Host[]): string[] =>
  hosts
    .filter((each) => each !== host)
    .map(({ address }) => address)
    .toSorted();

const untilTogether = async (hosts: readonly Host[]): Promise<void> => {
  for (const host of hosts) await expect.poll(() => aliveAt(host), patience).toEqual(othersOf(host, hosts));
};

describe.skipIf(!hasNetworks)('in a network without a router (needs network namespaces)', () => {
  test('three boxes find each other in any start order, and no box of another site', async () => {
    const hosts = createNetwork(4);
    const [one, , , stranger] = hosts as [Host, Host, Host, Host];
    const site = hosts.slice(0, 3);
    await one.start();
    await Promise.all([...site.slice(1).map((host) => host.start()), stranger.start({ SIGNAGE_SITE: 'elsewhere' })]);
    const startedAt = performance.now();
    await untilTogether(site);
    console.log(
      `three boxes found each other within ${Math.round(performance.now() - startedAt)} ms of the last start`,
    );
    const command = (await one.post('/api/screens/demo/commands', { command: 'next' })) as object;
    expect(command).toMatchObject({ sent: 0, degraded: false });
    expect(await aliveAt(stranger)).toEqual([]);
  });

  test('a box is away while its cable is unplugged, and alive again afterwards', async () => {
    const hosts = createNetwork(2);
    const [one, other] = hosts as [Host, Host];
    await Promise.all(hosts.map((host) => host.start()));
    await untilTogether(hosts);
    other.plug(false);
    const next = () => one.post('/api/screens/demo/commands', { command: 'next' });
    expect(await next()).toMatchObject({ degraded: true });
    expect(await aliveAt(one)).toEqual([]);
    other.plug(true);
    await untilTogether(hosts);
    await expect.poll(next, patience).toMatchObject({ degraded: false });
  });

  test('a box whose address changes is found at the new address', async () => {
    const hosts = createNetwork(2);
    const [, other] = hosts as [Host, Host];
    await Promise.all(hosts.map((host) => host.start()));
    await untilTogether(hosts);
    other.move('10.77.0.200');
    await untilTogether(hosts);
  });

  test('a box that stops says goodbye, and is removed from the peers', async () => {
    const hosts = createNetwork(2);
    const [one, other] = hosts as [Host, Host];
    await Promise.all(hosts.map((host) => host.start()));
    await untilTogether(hosts);
    await other.stop();
    await expect
      .poll(() => one.post('/api/screens/demo/commands', { command: 'next' }), patience)
      .toMatchObject({ degraded: false });
    expect(((await one.get('/healthz')) as Health).peers).toEqual([]);
  });
});
