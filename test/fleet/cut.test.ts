/** The line between a hub and its sites is cut, which neither end notices: each machine has a network of its own. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { writeHub } from '../../service/cli/fleet/hub-files.ts';
import { program } from '../cli/support.ts';
import { createNetwork, type Host, hasNetworks } from '../peers/network.ts';
import { hasNats, natsProgram } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { repeats } from '../support/soak.ts';
import { fileOf, saying } from './support.ts';

const CUT_SECONDS = repeats(8, 600, 'SIGNAGE_CUT_SECONDS');
const SITES = repeats(1, 3);
/** A box notices a dead connection after two pings, and then comes back within 30 s. */
const back = { timeout: 150_000, interval: 1_000 };

describe.skipIf(!hasNats || !hasNetworks)('in a network of its own (needs network namespaces)', () => {
  test(`after a line was cut for ${CUT_SECONDS} s sites play what was pushed meanwhile, and carry out no command that expired`, {
    timeout: CUT_SECONDS * 1_000 + 240_000,
  }, async () => {
    const [hub, ...boxes] = createNetwork(1 + SITES * 2) as [Host, ...Host[]];
    const sites = Array.from({ length: SITES }, (_, n) => ({
      name: `site-${n}`,
      boxes: boxes.slice(n * 2, n * 2 + 2),
    }));
    const folder = temporaryFolder();
    writeHub(folder, { listen: '0.0.0.0:4222', leafListen: null, tls: null });
    hub.spawn(natsProgram, '-c', join(folder, 'nats-server.conf'));
    const run = async (...args: string[]): Promise<string> => {
      const url = ['--fleet', 'nats://127.0.0.1:4222', '--credentials', join(folder, 'operator.creds'), '--json'];
      const chunks = await hub.spawn(process.execPath, program, 'fleet', ...args, ...url).stdout?.toArray();
      return (chunks ?? []).join('');
    };
    await expect.poll(() => run('init'), patience).toContain('signage-content');
    for (const { name } of sites) {
      await run('credentials', name, '-o', join(folder, name), '--keys', join(folder, 'keys'));
    }
    const starting = sites.flatMap(({ name, boxes: hosts }) =>
      hosts.map((host) =>
        host.start({
          SIGNAGE_SITE: name,
          SIGNAGE_FLEET_URL: `nats://${hub.address}:4222`,
          SIGNAGE_FLEET_CREDENTIALS: join(folder, name),
        }),
      ),
    );
    await Promise.all(starting);
    const push = (title: string) =>
      run('push', fileOf(saying(title)), ...sites.map(({ name }) => name), '--yes', '--new', '--wait', '2s');
    const titleAt = async (host: Host) => JSON.stringify(await host.get('/console/api/content').catch(() => null));
    const script = `fetch('http://127.0.0.1:8080/metrics').then((r) => r.text()).then(console.log)`;
    /** Commands that the box has carried out. */
    const executedAt = async (host: Host): Promise<number> => {
      const text = (await host.spawn(process.execPath, '-e', script).stdout?.toArray())?.join('') ?? '';
      const counts = [...text.matchAll(/^signage_commands_total\{.*command="next".*\} (\d+)/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const executed = async () => (await Promise.all(boxes.map(executedAt))).reduce((sum, count) => sum + count, 0);
    await push('Before');
    for (const host of boxes) await expect.poll(() => titleAt(host), back).toContain('Before');
    const send = async () => JSON.parse(await run('send', 'all', 'lobby', 'next')) as { silent: string[] };
    await expect.poll(send, patience).toMatchObject({ silent: [], failed: [] });
    const before = await executed();
    expect(before).toBeGreaterThanOrEqual(SITES);

    hub.plug(false);
    const began = performance.now();
    await push('During');
    expect((await send()).silent).toEqual(sites.map(({ name }) => name));
    await pause(CUT_SECONDS * 1_000 - (performance.now() - began));
    for (const host of boxes) expect(await titleAt(host)).toContain('Before');
    hub.plug(true);
    for (const host of boxes) await expect.poll(() => titleAt(host), back).toContain('During');
    expect(await executed()).toBe(before);
    expect((await send()).silent).toEqual([]);
  });
});
