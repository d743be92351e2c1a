/** Sites behind a leaf node of nats-server, as the guide sets it up. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { signage } from '../cli/support.ts';
import { idsOf, playAgo, reportTo } from '../records/plays/pages.ts';
import { type Hub, hasNats, startHub } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { freePort } from '../support/ports.ts';
import { temporaryFolder } from '../support/service.ts';
import { becomes, fileOf, plays, saying, startMember } from './support.ts';

const startLeaf = (file: string): Promise<Hub> =>
  startHub({ config: readFileSync(file, 'utf8').replace(/^listen:.*$/m, ''), hasJetStream: false });

describe.skipIf(!hasNats)('with a real nats-server', { timeout: 60_000 }, () => {
  test('behind a leaf node new content plays at once, and commands, status and plays travel, for its own site alone', async () => {
    const folder = temporaryFolder();
    const [users, file, leafPort] = [join(folder, 'users.conf'), join(folder, 'leaf.conf'), await freePort()];
    writeFileSync(users, 'users: [\n  { user: operator, password: word }\n]\n');
    const leafUrl = `nats://127.0.0.1:${leafPort}`;
    const made = await signage(['fleet', 'credentials', 'Wien', '-o', file, '--users', users, '--leaf', leafUrl]);
    expect(made).toMatchObject({ code: 0, stdout: '' });
    const accounts = `accounts { chain { jetstream: enabled, include users.conf } }`;
    const hub = await startHub({ config: `leafnodes { listen: "127.0.0.1:${leafPort}" }\n${accounts}`, folder });
    const leaf = await startLeaf(file);
    const operator = hub.url.replace('//', '//operator:word@');
    const run = async (...args: string[]) => {
      const ended = await signage(['fleet', ...args, '--json', '--fleet', operator]);
      return { ...ended, body: ended.stdout === '' ? null : JSON.parse(ended.stdout) };
    };
    const push = (title: string, site: string) => run('push', fileOf(saying(title)), site, '--yes');
    expect(await run('init')).toMatchObject({ code: 0 });
    await push('Of Graz', 'Graz');

    const box = await startMember(leaf, { content: saying('Old'), env: { SIGNAGE_SITE: 'Wien' } });
    const page = await joinScreen(box, 'lobby');
    await push('New', 'Wien');
    await plays(box, 'New');
    await push('Newer', 'Wien');
    await plays(box, 'Newer');
    const send = async () => (await run('send', 'Wien', 'lobby', 'next')).body;
    expect(await send()).toMatchObject({ sent: 1, silent: [], failed: [] });
    await page.message(({ command }) => command === 'next');
    const play = playAgo(20);
    await reportTo(box, [play]);
    await expect.poll(async () => idsOf((await run('plays', '--site', 'Wien')).body), patience).toEqual([play.play_id]);
    await expect
      .poll(async () => (await run('sites')).body, patience)
      .toMatchObject({ sites: [{ site: 'Wien', state: 'ok', content: { state: 'applied' } }] });

    const intruder = await leaf.client({ inboxPrefix: '_INBOX.Wien' });
    const ask = (subject: string) => intruder.request(subject, '', { timeout: 1_000 });
    const read = (site: string) => ask(`$JS.API.DIRECT.GET.KV_signage-content.$KV.signage-content.${site}`);
    expect((await read('Wien')).data.length).toBeGreaterThan(0);
    for (const attempt of [read('Graz'), ask('$KV.signage-content.Graz'), ask('signage.Graz.plays')]) {
      await expect(attempt).rejects.toThrow(/no responders/);
    }

    await leaf.kill();
    await becomes(box, { status: 'away' });
    await push('Meanwhile', 'Wien');
    await leaf.start();
    await plays(box, 'Meanwhile');
    await hub.kill();
    await hub.start();
    await expect.poll(send, patience).toMatchObject({ silent: [] });
    await push('Last', 'Wien');
    await plays(box, 'Last');
  });
});
