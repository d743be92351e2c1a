/** `signage fleet`, as an operator runs it, against a real hub and real sites. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Site } from '../../service/cli/fleet/hub.ts';
import { outcomeOf, phasesOf, placeOf, publishTo } from '../../service/cli/fleet/rollout.ts';
import { program, signage, signageHere } from '../cli/support.ts';
import { hasTerminal, openTerminal } from '../cli/terminal.ts';
import { idsOf, playAgo, reportTo } from '../records/plays/pages.ts';
import { type Hub, hasNats, startHub } from '../support/nats.ts';
import { patience, titlesOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import type { TestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { fileOf, plays, saying, startMember } from './support.ts';

/** Sets the title of the window, and turns the direction of what follows. */
const hostile = 'Bar\x1b]0;owned\x07\u202ednuor';

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

test('a site plays a push when it says so of that push, and neither when it has edited it nor with nothing to show', () => {
  const at = (second: number) => new Date(second * 1_000).toISOString();
  const site = (state: string, { status = 'ok', wantedPush = 'x', push = 'x', seen = 101 } = {}) => {
    const content = { wantedPush, push: { id: push }, state };
    const boxes = [
      { status: 'ok', seenAt: at(0) },
      { status, seenAt: at(seen) },
    ];
    return { site: 'a', content, reportedAt: at(100), boxes } as unknown as Parameters<typeof outcomeOf>[0];
  };
  const outcomeAt = (second: number, each: ReturnType<typeof site>) => outcomeOf(each, 'x', second * 1_000);
  expect(outcomeAt(110, undefined)).toBe('silent');
  expect(outcomeAt(110, site('applied', { wantedPush: 'y' }))).toBe('silent');
  expect(outcomeAt(110, site('applied', { push: 'y' }))).toBe('silent');
  expect(outcomeAt(110, site('pending'))).toBe('silent');
  expect(outcomeAt(110, site('applied', { status: 'degraded' }))).toBe('applied');
  expect(outcomeAt(110, site('diverged'))).toBe('diverged');
  expect(outcomeAt(110, site('refused', { push: 'y' }))).toBe('failed');
  expect(outcomeAt(110, site('applied', { status: 'failing' }))).toBe('failed');
  // What the box said before it played the push, and the last that a box said which is gone.
  expect(outcomeAt(110, site('applied', { status: 'failing', seen: 99 }))).toBe('silent');
  expect(outcomeAt(300, site('applied', { status: 'failing', seen: 99 }))).toBe('applied');
});

test('content is stored for 64 sites at a time', async () => {
  let [running, most] = [0, 0];
  const hub = {
    now: async () => 0,
    sites: async () => [],
    want: async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    },
  };
  const packed = { bytes: new Uint8Array(), push: { id: 'x', at: new Date(0).toISOString(), sha256: '' } };
  const sites = Array.from({ length: 200 }, (_, n) => `site-${n}`);
  const stored: string[] = [];
  const result = await publishTo(hub, { packed, sites, waitMs: 0, onStored: (site) => void stored.push(site) });
  expect([most, stored.length, result.silent.length]).toEqual([64, 200, 200]);
});

describe('without a hub', () => {
  test.each<[string[], number, string]>([
    [['fleet', 'sites'], 78, '--fleet URL'],
    [['fleet', 'sites', '--fleet', 'http://hub'], 2, 'a nats, tls, ws or wss URL'],
    [['fleet', 'sites', '--fleet', 'nats://127.0.0.1:9'], 69, 'cannot be reached'],
    [['fleet', 'sites', '--fleet', 'nats://me:word@192.0.2.1.invalid:9'], 69, 'can read the password'],
    [['fleet', 'sites', '--fleet', 'nats://me:50%@127.0.0.1:9'], 2, 'a % in user or password is written %25'],
    [
      ['fleet', 'sites', '--fleet', 'nats://127.0.0.1:9', '--credentials', '/nowhere.creds'],
      78,
      'is not asked: /nowhere.creds cannot be read (ENOENT)',
    ],
    [['fleet', 'send', 'a b', 'all', 'next'], 2, 'the name of a site'],
    [['fleet', 'send', 'Wien', 'all', 'dance'], 2, 'Allowed choices'],
    [['fleet', 'push', '/nowhere.json', 'Wien', '--yes'], 2, 'There is no such file'],
    [['fleet', 'push', '/nowhere.json', '--yes'], 2, 'Name the sites'],
    [['fleet', 'push', '/nowhere.json', 'Wien', 'bad site', '--yes'], 2, 'the name of a site'],
    [['fleet', 'rollout', '/nowhere.json', '--phases', '10,1', '--yes'], 2, 'ascending'],
    [['fleet', 'rollout', '/nowhere.json'], 2, '--yes'],
    [['fleet', 'send', 'all', 'lobby', 'blackout', '--fleet', 'nats://127.0.0.1:9'], 2, '--yes'],
    [['fleet', 'send', 'Wien', 'all', 'blackout', '--fleet', 'nats://127.0.0.1:9'], 2, '--yes'],
    [['fleet', 'send', 'Wien', 'lobby', 'blackout', '--fleet', 'nats://127.0.0.1:9'], 69, 'cannot be reached'],
    [['fleet', 'send', 'all', 'all', 'blackout', '--yes', '--fleet', 'nats://127.0.0.1:9'], 69, 'cannot be reached'],
  ])('%j ends with %d', async (args, code, words) => {
    const { code: ended, stderr } = await signageHere(args, {});
    expect(stderr).toContain(words);
    expect(ended).toBe(code);
  });

  test.each([
    ['push', '20s'],
    ['rollout', '5m'],
  ])('the help of fleet %s has a default that can be typed', async (name, time) => {
    const { stdout, code } = await signageHere(['fleet', name, '--wait', time, '--help'], {});
    expect([stdout, code]).toEqual([expect.stringContaining(`(default: ${time})`), 0]);
  });

  test.skipIf(!hasTerminal).each([
    ['all lobby', 'Send blackout to all sites? [y/N]'],
    ['Wien all', 'Send blackout to all screens of Wien? [y/N]'],
  ])('a blackout of %s asks first', async (where, question) => {
    const send = openTerminal(`${program} fleet send ${where} blackout --on --fleet nats://127.0.0.1:9`, {});
    await send.until(question);
    send.type('\n');
    expect(await send.ended).toBe(1);
    expect(send.screen()).toContain('Nothing was changed.');
  });

  test('a document is checked by the rules of a box, and its packed size, before anything is sent', async () => {
    const push = (document: unknown) =>
      signageHere(['fleet', 'push', fileOf(document), 'Wien', '--yes', '--fleet', 'nats://127.0.0.1:9'], {});
    const bad = await push({ ...saying('Bad'), holograms: [] });
    expect(bad).toMatchObject({ code: 1, stderr: expect.stringMatching(/"holograms"[\s\S]*Nothing was sent/) });
    const dangling = await push({ screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'gone' }], playlists: [] });
    expect(dangling.stderr).toMatch(/screens\[0\]\.playlist_id +there is no playlist with the id "gone"[\s\S]*1 error/);
    const slides = Array.from({ length: 3_000 }, (_, n) => ({
      id: `s${n}`,
      kind: 'text',
      title: 'T',
      body: randomBytes(400).toString('hex'),
    }));
    const large = { screens: [], playlists: [{ id: 'a', slides }] };
    expect(await push(large)).toMatchObject({ code: 1, stderr: expect.stringContaining('too large for the hub') });
  });
});

// The sites of one hub, as they change from case to case.
describe.skipIf(!hasNats)('with a real nats-server', { timeout: 60_000, shuffle: false }, () => {
  const ends: (() => void | Promise<void>)[] = [];
  const onEnd = (end: () => void | Promise<void>): void => void ends.unshift(end);
  let hub: Hub;
  let [wien, graz]: TestService[] = [];
  beforeAll(async () => {
    hub = await startHub({}, onEnd);
    const start = (site: string) => startMember(hub, { content: saying('Old'), env: { SIGNAGE_SITE: site } }, onEnd);
    [wien, graz] = await Promise.all([start('Wien'), start('Graz')]);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  const run = async (...args: string[]) => {
    const ended = await signageHere(['fleet', ...args, '--json'], hub.env);
    return { ...ended, body: ended.stdout === '' ? null : (JSON.parse(ended.stdout) as never) };
  };

  test('init makes what is missing, and repairs settings that somebody has changed', async () => {
    const own = await startHub({ init: false });
    const init = async () => JSON.parse((await signageHere(['fleet', 'init', '--json'], own.env)).stdout) as unknown;
    expect(await signageHere(['fleet', 'sites'], own.env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('signage fleet init'),
    });
    const made = ['signage-content', 'signage-status', 'signage-plays', 'signage-alerts'];
    expect(await init()).toEqual({ made, repaired: [] });
    expect(await init()).toEqual({ made: [], repaired: [] });
    const { jetstreamManager } = await import('@nats-io/jetstream');
    const manager = await jetstreamManager(await own.headOffice());
    const configOf = async (name: string) => (await manager.streams.info(name)).config;
    for (const name of ['KV_signage-content', 'KV_signage-status']) {
      expect(await configOf(name)).toMatchObject({
        ...{ allow_rollup_hdrs: false, deny_delete: true, deny_purge: true, allow_direct: true, discard: 'new' },
        max_bytes: expect.any(Number),
      });
    }
    expect(await configOf('KV_signage-status')).toMatchObject({ max_msg_size: 16_384 });
    expect(await configOf('signage-plays')).toMatchObject({
      ...{ subjects: ['signage.*.plays.*'], max_msg_size: 65_536, duplicate_window: 100_000_000, discard: 'new' },
      ...{ allow_rollup_hdrs: false, allow_direct: true, max_age: 90 * 86_400 * 1e9 },
    });
    await manager.streams.update('signage-alerts', { max_msg_size: 100, allow_direct: false, max_bytes: 5_000_000 });
    expect(await init()).toEqual({ made: [], repaired: ['signage-alerts'] });
    expect(await configOf('signage-alerts')).toMatchObject({
      max_msg_size: 65_536,
      allow_direct: true,
      max_bytes: 5_000_000,
    });
    expect(await signageHere(['fleet', 'sites', '--json'], own.env)).toMatchObject({ code: 0 });
    for (const args of [['push', '--all'], ['rollout']]) {
      const published = await signageHere(['fleet', ...args, fileOf(saying('A')), '--yes'], own.env);
      expect([published.code, published.stderr]).toEqual([3, expect.stringContaining('The hub knows no site')]);
    }
    await manager.streams.update('signage-alerts', { max_bytes: 1_000 });
    const nats = await own.headOffice();
    for (const _ of 'abcd') nats.publish('signage.Linz.alerts.node', Buffer.alloc(180));
    await nats.flush();
    await manager.streams.delete('signage-plays');
    const { hub: issues } = JSON.parse((await signageHere(['fleet', 'status', '--json'], own.env)).stdout);
    expect(issues).toEqual([
      'The hub has no signage-plays: run "signage fleet init".',
      expect.stringMatching(/^signage-alerts of the hub is full.*: Linz\.$/),
    ]);
  });

  test('sites are listed, and commanded by the clock of the hub', async () => {
    const page = await joinScreen(wien as TestService, 'lobby');
    await expect
      .poll(async () => (await run('sites')).body, patience)
      .toMatchObject({
        sites: [
          { site: 'Graz', state: 'ok', boxes: 1, away: 0, content: { state: 'none' } },
          { site: 'Wien', state: 'ok', boxes: 1, away: 0 },
        ],
      });
    expect(await run('status', 'Wien')).toMatchObject({
      code: 0,
      body: { boxes: [{ site: 'Wien', status: 'ok' }], hub: [] },
    });
    expect(await run('status', 'Wein')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('did you mean "Wien"?'),
    });
    expect(await run('send', 'Wien', 'lobby', 'blackout', '--on')).toMatchObject({ code: 0, body: { sent: 1 } });
    await page.message((message) => message.command === 'blackout' && message.blackout === true);
    expect(await run('send', 'all', 'all', 'next')).toMatchObject({
      code: 0,
      body: { sent: 1, silent: [], failed: [] },
    });
    expect(await run('send', 'Wien', 'nowhere', 'next')).toMatchObject({ code: 3 });
    expect(await run('send', 'Linz', 'all', 'next')).toMatchObject({ code: 5, body: { silent: ['Linz'] } });
    // An operator whose clock is an hour wrong.
    for (const shift of [-3_600_000, 3_600_000]) {
      const clock = encodeURIComponent(`const { now } = Date; Date.now = () => now() + ${shift};`);
      const env = { ...hub.env, NODE_OPTIONS: `--import=data:text/javascript,${clock}` };
      const { stdout } = await signage(['fleet', 'send', 'Wien', 'all', 'next', '--json'], { env });
      expect(JSON.parse(stdout)).toMatchObject({ sent: 1, silent: [], failed: [] });
    }
    page.socket.close();
  });

  test('push and rollout say what plays, and a name that no site has is an error', async () => {
    const push = (title: string, ...more: string[]) => run('push', fileOf(saying(title)), '--yes', ...more);
    expect(await push('A', 'Wien')).toMatchObject({ code: 0, body: { applied: ['Wien'] } });
    await plays(wien as TestService, 'A');
    expect(await titlesOf(graz as TestService)).toEqual(['Old']);
    expect(await push('B', 'Wine')).toMatchObject({ code: 3, stderr: expect.stringContaining('did you mean "Wien"?') });
    expect(await push('B', 'Later', '--new')).toMatchObject({ code: 0, body: { silent: ['Later'] } });
    // The same document again is a push of its own.
    (wien as TestService).writeContent(saying('Ours'));
    await plays(wien as TestService, 'Ours');
    expect(await push('A', 'Wien')).toMatchObject({ code: 0, body: { applied: ['Wien'] } });
    await plays(wien as TestService, 'A');

    const rollout = (title: string, ...more: string[]) =>
      run('rollout', fileOf(saying(title)), '--wait', '20s', '--yes', ...more);
    expect(await rollout('C', '--except', 'Gratz')).toMatchObject({ code: 3 });
    const none = await rollout('C', '--except', 'Graz', '--except', 'Wien');
    expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining('The hub knows no site to publish to') });
    expect(await rollout('C', '--except', 'Graz')).toMatchObject({ code: 0, body: { held: false } });
    await plays(wien as TestService, 'C');
    expect(await titlesOf(graz as TestService)).toEqual(['Old']);
    expect(await rollout('D', '--phases', '50,100')).toMatchObject({ code: 0, body: { held: false } });
    for (const site of [wien, graz]) expect(await titlesOf(site as TestService)).toEqual(['D']);
  });

  test('what a site answers or reports is not believed: nonsense is one failed row, and a site is that of its subject', async () => {
    const nats = await hub.as(await hub.credentials('Linz'));
    let answer = 'hello';
    nats.subscribe('signage.Linz.command.*', { callback: (_, message) => void message.respond(answer) });
    const box = {
      nodeId: 'b',
      site: 'Wien',
      name: 'box',
      url: null,
      version: '1',
      status: 'failing',
      warnings: [],
      connections: 0,
    };
    const at = new Date().toISOString();
    const report = JSON.stringify({ ...box, startedAt: at, at });
    await nats.request('JS.hub.API.$KV.signage-status.Linz.b', report);
    for (const each of ['hello', '{"error": null}', 'null', '{"sent": "many"}', '']) {
      answer = each;
      const sent = await run('send', 'all', 'all', 'next');
      expect(sent).toMatchObject({ code: 5, body: { failed: [{ site: 'Linz' }], silent: [] } });
    }
    const { body } = await run('sites');
    expect(body).toMatchObject({
      sites: [
        { site: 'Graz', state: 'ok' },
        { site: 'Linz', state: 'failing' },
        { site: 'Wien', state: 'ok' },
      ],
    });
  });

  test('a site that is revoked is no longer one of the fleet', async () => {
    const nats = await hub.as(await hub.credentials('Bonn'));
    const at = new Date().toISOString();
    const box = { name: 'box', url: null, version: '1', status: 'failing', warnings: [], connections: 0 };
    const report = { nodeId: 'b', site: 'Bonn', startedAt: at, at, ...box };
    await nats.request('JS.hub.API.$KV.signage-status.Bonn.b', JSON.stringify(report));
    await nats.close();
    const names = async () => ((await run('sites')).body as unknown as { sites: Site[] }).sites.map(({ site }) => site);
    const before = await names();
    expect(before).toContain('Bonn');
    expect(await run('revoke', 'Bonn', '--keys', join(hub.folder, 'keys'))).toMatchObject({ code: 0 });
    expect(await names()).toEqual(before.filter((name) => name !== 'Bonn'));
  });

  test('plays are read once each, and as those of the site that sent them', async () => {
    const reported = [playAgo(20), playAgo(10)];
    await reportTo(wien as TestService, reported);
    const read = async (...more: string[]) => (await run('plays', ...more)).body ?? [];
    await expect.poll(async () => idsOf(await read('--site', 'Wien')), patience).toEqual(idsOf(reported));
    const [first] = (await read('--site', 'Wien')) as Record<string, unknown>[];
    // Another site sends it as one of Wien, and Wien's again.
    const nats = await hub.as(await hub.credentials('Linz'));
    await nats.request('signage.Linz.plays.b', JSON.stringify(first));
    const sites = ((await read()) as Record<string, unknown>[]).filter(({ play_id }) => play_id === first?.['play_id']);
    expect(sites.map(({ site }) => site).sort()).toEqual(['Linz', 'Wien']);
    expect(await read('--to', '2020-01-01')).toEqual([]);
    await nats.request('signage.Linz.plays.c', JSON.stringify({ ...first, play_id: 'hostile', slide_title: hostile }));
    const json = await signageHere(['fleet', 'plays', '--site', 'Linz', '--json'], hub.env);
    expect([json.stdout, JSON.parse(json.stdout)]).toEqual([
      expect.not.stringMatching(/[\x80-\x9f\u202e]/),
      expect.arrayContaining([expect.objectContaining({ slide_title: hostile })]),
    ]);
    if (hasTerminal) {
      const shown = openTerminal(`${program} fleet plays --site Linz`, hub.env);
      await shown.ended;
      expect(shown.screen()).toMatch(/Bar\\x1b\]0;owned\\x07\\u202e/);
    }
    const csv = await signageHere(['fleet', 'plays'], hub.env);
    expect(csv.stdout.split('\r\n')[0]).toMatch(/^play_id,site,node_id,/);
  });

  test('a hub that accepts and says nothing ends the command line with 69 within 10 s', walk, async () => {
    hub.freeze(true);
    const begun = performance.now();
    const ended = await signage(['fleet', 'sites'], { env: hub.env });
    hub.freeze(false);
    expect(ended).toMatchObject({ code: 69, stderr: expect.stringContaining('does not answer') });
    expect(performance.now() - begun).toBeLessThan(12_000);
  });

  test('a push that is interrupted says which sites have it', async () => {
    const child = spawn(program, ['fleet', 'push', fileOf(saying('E')), 'Wien', 'Nobody', '--new', '--yes'], {
      env: { PATH: process.env.PATH, ...hub.env },
    });
    let text = '';
    child.stderr.on('data', (data) => {
      text += String(data);
    });
    await plays(wien as TestService, 'E');
    child.kill('SIGINT');
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect([code, text]).toEqual([130, expect.stringMatching(/2 sites have it: .*Wien/)]);
  });
});
