/** `signage fleet`, as an operator runs it, against a real hub and real sites. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { nkeyAuthenticator } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { outcomeOf } from '../../service/cli/fleet/rollout.ts';
import { phasesOf, placeOf } from '../../service/cli/fleet/shares.ts';
import { signage } from '../cli/support.ts';
import { idsOf, playAgo, reportTo } from '../records/plays/pages.ts';
import { hasNats, startHub } from '../support/nats.ts';
import { patience, titlesOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { temporaryFolder } from '../support/service.ts';
import { becomes, fileOf, saying, startMember } from './support.ts';

test('each phase of a rollout adds sites to those before, about as many as it says, and all in the end', () => {
  const sites = Array.from({ length: 2_000 }, (_, n) => `site-${n}`);
  expect(sites.every((site) => placeOf(site) > 0 && placeOf(site) <= 100)).toBe(true);
  const phases = phasesOf(sites, [1, 10, 100]);
  expect(phases.map(({ percent }) => percent)).toEqual([1, 10, 100]);
  expect(phases.flatMap((phase) => phase.sites).sort()).toEqual(sites.toSorted());
  const [first, second] = phases;
  expect(first?.sites.length).toBeGreaterThan(8);
  expect(first?.sites.length).toBeLessThan(40);
  expect(second?.sites.length).toBeGreaterThan(130);
  expect(second?.sites.length).toBeLessThan(230);
  expect(phasesOf(['a'], [100])).toEqual([{ percent: 100, sites: ['a'] }]);
});

test('a site has taken a document when it plays it or has edited it since, and failed when it has nothing to show', () => {
  const site = (state: string, status = 'ok', wanted = 'x') =>
    ({ site: 'a', content: { wanted, state }, boxes: [{ status }] }) as unknown as Parameters<typeof outcomeOf>[0];
  expect(outcomeOf(undefined, 'x')).toBe('silent');
  expect(outcomeOf(site('applied', 'ok', 'y'), 'x')).toBe('silent');
  expect(outcomeOf(site('pending'), 'x')).toBe('silent');
  expect(outcomeOf(site('applied', 'degraded'), 'x')).toBe('applied');
  expect(outcomeOf(site('diverged'), 'x')).toBe('applied');
  expect(outcomeOf(site('refused'), 'x')).toBe('failed');
  expect(outcomeOf(site('applied', 'failing'), 'x')).toBe('failed');
});

describe('without a hub', () => {
  test.each<[string[], number, string]>([
    [['fleet', 'sites'], 78, '--fleet URL'],
    [['fleet', 'sites', '--fleet', 'http://hub'], 2, 'a nats, tls, ws or wss URL'],
    [['fleet', 'sites', '--fleet', 'nats://127.0.0.1:9'], 69, 'cannot be reached'],
    [['fleet', 'send', 'a b', 'all', 'next'], 2, 'the name of a site'],
    [['fleet', 'send', 'Wien', 'all', 'dance'], 2, 'Allowed choices'],
    [['fleet', 'push', '/nowhere.json', 'Wien', '--yes'], 2, 'There is no such file'],
    [['fleet', 'push', '/nowhere.json', '--yes'], 2, 'Name the sites'],
    [['fleet', 'push', '/nowhere.json', 'Wien', 'bad site', '--yes'], 2, 'the name of a site'],
    [['fleet', 'rollout', '/nowhere.json', '--phases', '10,1', '--yes'], 2, 'ascending'],
    [['fleet', 'rollout', '/nowhere.json'], 2, '--yes'],
  ])('%j ends with %d', async (args, code, words) => {
    const { code: ended, stderr } = await signage(args);
    expect(stderr).toContain(words);
    expect(ended).toBe(code);
  });
});

describe.skipIf(!hasNats)('with a real nats-server', { timeout: 60_000 }, () => {
  test('init makes what is missing, once; then sites are listed, commanded and given content', async () => {
    const hub = await startHub();
    const run = async (...args: string[]) => {
      const ended = await signage(['fleet', ...args, '--json'], { env: { SIGNAGE_FLEET_URL: hub.url } });
      return { ...ended, body: ended.stdout === '' ? null : (JSON.parse(ended.stdout) as never) };
    };
    expect(await run('sites')).toMatchObject({ code: 1, stderr: expect.stringContaining('signage fleet init') });
    const made = ['signage-content', 'signage-status', 'signage-plays', 'signage-alerts'];
    expect(await run('init')).toMatchObject({ code: 0, body: { made } });
    expect(await run('init')).toMatchObject({ code: 0, body: { made: [] } });
    expect(await run('sites')).toMatchObject({ code: 0, body: { sites: [] } });

    const wien = await startMember(hub, { content: saying('Old'), env: { SIGNAGE_SITE: 'Wien' } });
    const graz = await startMember(hub, { content: saying('Old'), env: { SIGNAGE_SITE: 'Graz' } });
    const page = await joinScreen(wien, 'lobby');
    await expect
      .poll(async () => (await run('sites')).body, patience)
      .toMatchObject({
        sites: [
          { site: 'Graz', state: 'ok', boxes: 1, away: 0, content: { state: 'none' } },
          { site: 'Wien', state: 'ok', boxes: 1, away: 0 },
        ],
      });
    expect(await run('status', 'Wien')).toMatchObject({ code: 0, body: { boxes: [{ site: 'Wien', status: 'ok' }] } });
    expect(await run('status', 'Linz')).toMatchObject({ code: 3 });

    expect(await run('send', 'Wien', 'lobby', 'blackout', '--on')).toMatchObject({ code: 0, body: { sent: 1 } });
    await page.message((message) => message.command === 'blackout' && message.blackout === true);
    expect(await run('send', 'all', 'all', 'next')).toMatchObject({
      code: 0,
      body: { sent: 1, silent: [], failed: [] },
    });
    expect(await run('send', 'Wien', 'nowhere', 'next')).toMatchObject({ code: 3 });
    expect(await run('send', 'Linz', 'all', 'next')).toMatchObject({ code: 5, body: { silent: ['Linz'] } });

    // An operator whose clock is an hour wrong: the clock of the hub counts.
    for (const shift of [-3_600_000, 3_600_000]) {
      const clock = encodeURIComponent(`const { now } = Date; Date.now = () => now() + ${shift};`);
      const env = { SIGNAGE_FLEET_URL: hub.url, NODE_OPTIONS: `--import=data:text/javascript,${clock}` };
      const answer = async (...args: string[]) =>
        JSON.parse((await signage(['fleet', ...args, '--json'], { env })).stdout) as unknown;
      expect(await answer('sites')).toMatchObject({ sites: [{ state: 'ok' }, { state: 'ok' }] });
      expect(await answer('send', 'Wien', 'all', 'next')).toMatchObject({ sent: 1, silent: [], failed: [] });
    }

    expect(await run('push', fileOf(saying('Pushed')), 'Wien', '--yes')).toMatchObject({ code: 0 });
    await expect.poll(() => titlesOf(wien), patience).toEqual(['Pushed']);
    expect(await titlesOf(graz)).toEqual(['Old']);
    const rollout = await run('rollout', fileOf(saying('Rolled out')), '--phases', '50,100', '--wait', '20s', '--yes');
    expect(rollout).toMatchObject({ code: 0, body: { held: false } });
    for (const site of [wien, graz]) expect(await titlesOf(site)).toEqual(['Rolled out']);
    const held = await run('rollout', fileOf({ ...saying('Bad'), holograms: [] }), '--wait', '20s', '--yes');
    expect(held).toMatchObject({ code: 1, body: { held: true } });
    expect(held.stderr).toContain('The rollout is held');
    for (const site of [wien, graz]) expect(await titlesOf(site)).toEqual(['Rolled out']);

    const plays = [playAgo(20), playAgo(10)];
    await reportTo(wien, plays);
    await expect
      .poll(async () => idsOf((await run('plays', '--site', 'Wien')).body ?? []), patience)
      .toEqual(idsOf(plays));
    expect(await run('plays', '--to', '2020-01-01')).toMatchObject({ code: 0, body: [] });
    const csv = await signage(['fleet', 'plays', '--fleet', hub.url]);
    expect(csv.stdout.split('\r\n')[0]).toMatch(/^play_id,site,node_id,/);
  });

  test('the credentials of a site are enough for its box, and for nothing of another site', async () => {
    const folder = temporaryFolder();
    const makeFor = async (site: string) => {
      const file = join(folder, `${site}.creds`);
      const { code, stdout } = await signage(['fleet', 'credentials', site, '--output', file]);
      expect(code).toBe(0);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      return { file, config: stdout };
    };
    const [wien, graz] = [await makeFor('Wien'), await makeFor('Graz')];
    const admin = '{ user: admin, password: secret }';
    const hub = await startHub({ config: `authorization { users: [\n${admin}\n${wien.config}\n${graz.config}\n] }` });
    const operator = hub.url.replace('//', '//admin:secret@');
    expect(await signage(['fleet', 'init', '--fleet', operator])).toMatchObject({ code: 0 });

    const env = { SIGNAGE_SITE: 'Wien', SIGNAGE_FLEET_CREDENTIALS: wien.file };
    const box = await startMember(hub, { content: saying('Old'), env });
    const page = await joinScreen(box, 'lobby');
    const push = await signage(['fleet', 'push', fileOf(saying('New')), 'Wien', 'Graz', '--yes', '--fleet', operator]);
    expect(push.code).toBe(0);
    await expect.poll(() => titlesOf(box), patience).toEqual(['New']);
    const sent = await signage(['fleet', 'send', 'Wien', 'all', 'next', '--fleet', operator, '--json']);
    expect(JSON.parse(sent.stdout)).toMatchObject({ sent: 1, silent: [] });
    await page.message((message) => message.command === 'next');
    await reportTo(box, [playAgo(10)]);
    const countPlays = async () =>
      (JSON.parse((await signage(['fleet', 'plays', '--fleet', operator, '--json'])).stdout) as unknown[]).length;
    await expect.poll(countPlays, patience).toBe(1);
    await becomes(box, { status: 'connected', content: { state: 'applied' } });

    const [seed = ''] = /SU[A-Z2-7]{56}/.exec(readFileSync(graz.file, 'utf8')) ?? [];
    const intruder = await hub.client({
      authenticator: nkeyAuthenticator(Buffer.from(seed)),
      inboxPrefix: '_INBOX.Graz',
    });
    const refused = async (attempt: Promise<unknown>) => expect(attempt).rejects.toThrow(/permission/i);
    const ask = (subject: string, body = '') => intruder.request(subject, body, { timeout: 2_000 });
    await refused(ask('signage.Wien.command.all', '{}'));
    await refused(ask('signage.Wien.plays', '{}'));
    await refused(ask('$KV.signage-status.Wien.content', '{}'));
    await refused(ask('$KV.signage-content.Wien', 'x'));
    await refused(ask('$KV.signage-content.Graz', 'x'));
    await refused(ask('$JS.API.DIRECT.GET.KV_signage-content.$KV.signage-content.Wien'));
    await refused(ask('$JS.API.DIRECT.GET.KV_signage-content', '{"seq":1}'));
    await refused(ask('$JS.API.STREAM.MSG.GET.KV_signage-content', '{"seq":1}'));
    await refused(ask('$JS.API.STREAM.DELETE.KV_signage-content'));
    await refused(ask('$JS.API.CONSUMER.CREATE.signage-plays', '{}'));
    const heard: string[] = [];
    for (const subject of [
      'signage.>',
      'signage.Wien.command.*',
      '$KV.signage-content.>',
      '_INBOX.>',
      '_INBOX.Wien.>',
    ]) {
      intruder.subscribe(subject, { callback: (error) => void (error ?? heard.push(subject)) });
    }
    await signage(['fleet', 'send', 'Wien', 'all', 'next', '--fleet', operator]);
    const own = await ask('$JS.API.DIRECT.GET.KV_signage-content.$KV.signage-content.Graz');
    expect(JSON.parse(gunzipSync(own.data).toString())).toEqual(saying('New'));
    await pause(100);
    expect(heard).toEqual([]);
  });
});
