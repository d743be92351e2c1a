/** Boxes find each other in a real network, with no settings. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
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
  test('three boxes find each other in any start order, and no box of another site; one is away while its cable is unplugged, one is found at its new address, and one that says goodbye is removed', {
    ...walk,
    timeout: 100_000,
  }, async () => {
    const hosts = createNetwork(4);
    const [one, two, three, stranger] = hosts as [Host, Host, Host, Host];
    const site = [one, two, three];
    await one.start();
    await Promise.all([two.start(), three.start(), stranger.start({ SIGNAGE_SITE: 'elsewhere' })]);
    const startedAt = performance.now();
    await untilTogether(site);
    console.log(
      `three boxes found each other within ${Math.round(performance.now() - startedAt)} ms of the last start`,
    );
    const next = () => one.post('/api/screens/demo/commands', { command: 'next' });
    expect(await next()).toMatchObject({ sent: 0, degraded: false });
    expect(await aliveAt(stranger)).toEqual([]);

    two.plug(false);
    expect(await next()).toMatchObject({ degraded: true });
    await expect.poll(() => aliveAt(one), patience).toEqual([three.address]);
    two.plug(true);
    await untilTogether(site);
    await expect.poll(next, patience).toMatchObject({ degraded: false });

    three.move('10.77.0.200');
    await untilTogether(site);

    await two.stop();
    await expect.poll(next, patience).toMatchObject({ degraded: false });
    const { peers } = (await one.get('/healthz')) as Health;
    expect(peers.map(({ url }) => new URL(url).hostname)).toEqual([three.address]);
  });

  test('two boxes of a copied disk, which have one node id, are both found', {
    ...walk,
    timeout: 100_000,
  }, async () => {
    const [original, copy, laptop] = createNetwork(3) as [Host, Host, Host];
    const [SIGNAGE_DATA_DIR, copied] = [temporaryFolder(), temporaryFolder()];
    await original.start({ SIGNAGE_DATA_DIR });
    await original.stop();
    cpSync(SIGNAGE_DATA_DIR, copied, { recursive: true });
    await original.start({ SIGNAGE_DATA_DIR });
    // In one site, one of them would take a new id.
    await copy.start({ SIGNAGE_DATA_DIR: copied, SIGNAGE_SITE: 'elsewhere' });
    const cli = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'index.js');
    const found = async () => {
      const { stdout } = laptop.spawn(process.execPath, cli, 'discover', '--json');
      const { boxes } = JSON.parse(stdout === null ? '' : await text(stdout)) as { boxes: Record<string, string>[] };
      const addresses = boxes.map(({ url = '' }) => new URL(url).hostname).toSorted();
      return { addresses, nodeIds: new Set(boxes.map(({ nodeId }) => nodeId)).size };
    };
    await expect.poll(found, patience).toEqual({ addresses: othersOf(laptop, [original, copy]), nodeIds: 1 });
  });
});
