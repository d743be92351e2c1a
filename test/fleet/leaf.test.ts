/** Sites behind a leaf node of nats-server, as the guide sets it up. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signageHere } from '../cli/support.ts';
import { idsOf, playAgo, reportTo } from '../records/plays/pages.ts';
import { type Hub, hasNats, type Server, startHub, startNats } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { becomes, fileOf, plays, saying, startMember } from './support.ts';

describe.skipIf(!hasNats)('with a real nats-server', { timeout: 60_000 }, () => {
  const ends: (() => void | Promise<void>)[] = [];
  const onEnd = (end: () => void | Promise<void>): void => void ends.unshift(end);
  let hub: Hub;
  let leaf: Server;
  let site: { url: string; credentials(): Promise<string> };
  let own: string;
  beforeAll(async () => {
    hub = await startHub({}, onEnd);
    own = join(hub.folder, 'Wien.creds');
    const made = ['fleet', 'credentials', 'Wien', '-o', own, '--keys', join(hub.folder, 'keys'), '--leaf', hub.leafUrl];
    const { stdout } = await signageHere(made, hub.env);
    expect(stdout.trim().split('\n')).toEqual([own, `${own}.leaf.conf`, `${own}.leaf.creds`]);
    leaf = await startNats(readFileSync(`${own}.leaf.conf`, 'utf8').replace(/^listen:.*$/m, ''), onEnd);
    site = { url: leaf.url, credentials: async () => own };
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  const run = async (...args: string[]) => {
    const ended = await signageHere(['fleet', ...args, '--json'], hub.env);
    return { ...ended, body: ended.stdout === '' ? null : JSON.parse(ended.stdout) };
  };

  test('behind a leaf node new content plays at once, and commands, status and plays travel', async () => {
    const push = (title: string) => run('push', fileOf(saying(title)), 'Wien', '--yes');
    const box = await startMember(site, { content: saying('Old'), env: { SIGNAGE_SITE: 'Wien' } });
    const page = await joinScreen(box, 'lobby');
    expect(await push('New')).toMatchObject({ code: 0, body: { applied: ['Wien'] } });
    await plays(box, 'New');
    expect((await run('send', 'Wien', 'lobby', 'next')).body).toMatchObject({ sent: 1, silent: [], failed: [] });
    await page.message(({ command }) => command === 'next');
    const play = playAgo(20);
    await reportTo(box, [play]);
    await expect.poll(async () => idsOf((await run('plays', '--site', 'Wien')).body), patience).toEqual([play.play_id]);

    await leaf.kill();
    await becomes(box, { status: 'away' });
    expect(await run('push', fileOf(saying('Meanwhile')), 'Wien', '--yes', '--wait', '1s')).toMatchObject({ code: 5 });
    await leaf.start();
    await plays(box, 'Meanwhile');
    await hub.kill();
    await hub.start();
    await expect.poll(() => push('Last').then(({ body }) => body?.applied), patience).toEqual(['Wien']);
  });

  test('a leaf node takes its own site alone, and a key of a box is none of a leaf node, nor the other way round', async () => {
    await expect(leaf.client()).rejects.toThrow(/authorization/i);
    await expect(hub.as(`${own}.leaf.creds`)).rejects.toThrow(/authorization/i);
    const other = await hub.credentials('Graz');
    const { port } = leaf;
    await expect(hub.as(other, { servers: `127.0.0.1:${port}` })).rejects.toThrow(/authorization/i);
    // The account of a site without a leaf node takes none.
    const remote = `leafnodes { remotes: [ { url: "${hub.leafUrl}", credentials: "${other}" } ] }`;
    const rogue = await startNats(remote);
    const nats = await rogue.client();
    await expect(nats.request('signage.Graz.plays.a', '{}', { timeout: 1_000 })).rejects.toThrow(/no responders/);
  });
});
