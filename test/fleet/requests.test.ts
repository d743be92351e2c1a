/** Commands and snapshots that the hub asks for. */
import { describe, expect, test } from 'vitest';
import { hasNats, startHub } from '../support/nats.ts';
import { healthOf as healthOfSite, patience } from '../support/observe.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import type { TestService } from '../support/service.ts';
import { ask, command, startMember, statusOf } from './support.ts';

const secret = 'a secret of the whole site';

const content = {
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'a', tags: ['front'] },
    { name: 'Menu', slug: 'menu', playlist_id: 'a' },
  ],
  playlists: [{ id: 'a', slides: [{ id: 'hello', kind: 'text', title: 'Hello' }] }],
};

const heard = (page: { messages: Record<string, unknown>[] }): unknown[] =>
  page.messages.filter(({ type }) => type === 'command').map((message) => message.command);

const join = async (service: TestService, slug: string, clientId = 'client-1', key: string | null = null) =>
  joinScreen(service, slug, { clientId }, { protocols: await protocolsOf(service, slug, key) });

const setUp = async () => {
  const hub = await startHub();
  const nats = await hub.headOffice();
  return { hub, nats, status: await statusOf(nats) };
};

describe.skipIf(!hasNats)('with a real nats-server', () => {
  test('a command reaches a screen, a tag or all screens, and is answered like one over HTTP', async () => {
    const { hub, nats } = await setUp();
    const service = await startMember(hub, { content, env: { SIGNAGE_SITE: 'Wien' } });
    const [lobby, menu] = [await join(service, 'lobby'), await join(service, 'menu')];
    const answer = await command(nats, 'signage.Wien.command.lobby', { command: 'next' });
    const overHttp = await (await service.post('/api/screens/lobby/commands', { command: 'next' })).json();
    expect(answer).toEqual(overHttp);
    expect(answer).toMatchObject({
      screenSlug: 'lobby',
      command: 'next',
      connectionId: null,
      sent: 1,
      degraded: false,
    });
    expect(await command(nats, 'signage.Wien.command.tag:front', { command: 'pause' })).toMatchObject({ sent: 1 });
    expect(await command(nats, 'signage.Wien.command.all', { command: 'reload' })).toEqual({
      ...{ screen: null, screenSlug: null, command: 'reload', connectionId: null, sent: 2, degraded: false },
    });
    const one = await command(nats, 'signage.Wien.command.lobby', {
      command: 'left',
      connectionId: lobby.connectionId,
    });
    expect(one).toMatchObject({ connectionId: lobby.connectionId, sent: 1 });
    await expect.poll(() => heard(lobby), patience).toEqual(['next', 'next', 'pause', 'reload', 'left']);
    expect(heard(menu)).toEqual(['reload']);
  });

  test('a command is one record of the audit, whatever it is for, and so is one that is refused', async () => {
    const { hub, nats } = await setUp();
    const service = await startMember(hub, { content, env: { SIGNAGE_SITE: 'Wien' } });
    await command(nats, 'signage.Wien.command.lobby', { command: 'blackout', blackout: true });
    await command(nats, 'signage.Wien.command.all', { command: 'next' });
    await command(nats, 'signage.Wien.command.tag:back', { command: 'next' });
    const { records } = (await (await service.get('/console/api/audit')).json()) as { records: object[] };
    const common = { at: expect.any(String), node_id: expect.any(String), before: null, address: null };
    const record = { ...common, operator: 'fleet', person: null, action: 'screen.command', result: 'ok' };
    expect(records.toReversed()).toEqual([
      { ...record, target: 'lobby', after: { command: 'blackout', blackout: true } },
      { ...record, target: 'all', after: { command: 'next' } },
      { ...record, target: 'tag:back', after: { command: 'next' }, result: 'screen_not_found' },
    ]);
  });

  test('what is no command is answered with what is wrong with it, and another site hears nothing', async () => {
    const { hub, nats } = await setUp();
    const service = await startMember(hub, { content, env: { SIGNAGE_SITE: 'Wien' } });
    const other = await startMember(hub, { content, env: { SIGNAGE_SITE: 'Graz' } });
    const [page, foreign] = [await join(service, 'lobby'), await join(other, 'lobby')];
    const codeOf = async (target: string, body: string | Record<string, unknown>): Promise<unknown> => {
      const subject = `signage.Wien.command.${target}`;
      const answer = typeof body === 'string' ? await ask(nats, subject, body) : await command(nats, subject, body);
      return (answer as { error: { code: string } }).error.code;
    };
    expect(await codeOf('lobby', 'next')).toBe('invalid_json');
    expect(await codeOf('lobby', '["next"]')).toBe('invalid_json');
    expect(await codeOf('lobby', '')).toBe('invalid_json');
    expect(await codeOf('lobby', { command: 'next', padding: 'x'.repeat(70_000) })).toBe('payload_too_large');
    expect(await codeOf('lobby', { command: 'explode' })).toBe('unknown_command');
    expect(await codeOf('all', { command: 'redirect', url: '/console' })).toBe('invalid_field');
    expect(await codeOf('lobby', { command: 'next', id: undefined })).toBe('missing_field');
    expect(await codeOf('lobby', { command: 'next', id: 'a b' })).toBe('invalid_field');
    expect(await codeOf('lobby', { command: 'next', expiresAt: undefined })).toBe('missing_field');
    expect(await codeOf('lobby', { command: 'next', expiresAt: 'soon' })).toBe('invalid_field');
    expect(await codeOf('lobby', { command: 'next', expiresAt: Date.now() - 1_000 })).toBe('command_expired');
    const isFar = { expiresAt: Date.now() + 330_000 };
    expect(await codeOf('lobby', { command: 'next', ...isFar })).toBe('invalid_field');
    for (const field of ['site', 'target']) {
      expect(await codeOf('lobby', { command: 'next', [field]: undefined })).toBe('missing_field');
      expect(await codeOf('lobby', { command: 'next', [field]: 'menu' })).toBe('misdirected');
    }
    expect(await codeOf('nowhere', { command: 'next' })).toBe('screen_not_found');
    expect(await codeOf('tag:back', { command: 'next' })).toBe('screen_not_found');
    expect([heard(page), heard(foreign)]).toEqual([[], []]);
  });

  test("a box whose clock is an hour slow drops what has expired by the hub's clock, and one that is fast takes what has not", async () => {
    const { hub, nats, status } = await setUp();
    const HOUR = 3_600_000;
    const start = (site: string, shift: number) =>
      startMember(hub, { content, wall: () => Date.now() + shift, env: { SIGNAGE_SITE: site } });
    const [slow, fast] = [await start('slow', -HOUR), await start('fast', HOUR)];
    for (const [site, service] of Object.entries({ slow, fast })) {
      const { nodeId } = (await (await service.get('/healthz')).json()) as { nodeId: string };
      await expect.poll(async () => await status.get(`${site}.${nodeId}`), patience).not.toBeNull();
    }
    const expiresAt = Date.now() - 60_000;
    const isDropped = async () =>
      (await command(nats, 'signage.slow.command.lobby', { command: 'next', expiresAt })).error !== undefined;
    // The clock is read a moment after the status was written.
    await expect.poll(isDropped, patience).toBe(true);
    const isTaken = async () => (await command(nats, 'signage.fast.command.lobby', { command: 'next' })).sent === 0;
    await expect.poll(isTaken, patience).toBe(true);
  });

  test('of two boxes one acts, a repeat at either is not heard again and gets the first answer, with and without a secret', async () => {
    const { hub, nats } = await setUp();
    for (const key of [null, secret]) {
      const site = key === null ? 'open' : 'closed';
      const env = { SIGNAGE_SITE: site, ...(key !== null && { SIGNAGE_SHARED_SECRET: key }) };
      const first = await startMember(hub, { content, env });
      const second = await startMember(hub, { content, env: { ...env, SIGNAGE_PEERS: first.url } });
      for (const service of [first, second]) {
        const peers = async () => ((await healthOfSite(service)) as unknown as { peers: { state: string }[] }).peers;
        await expect.poll(async () => (await peers()).map(({ state }) => state), patience).toEqual(['alive']);
      }
      const pages = [await join(first, 'lobby', 'client-1', key), await join(second, 'lobby', 'client-2', key)];
      const answers = [];
      for (let n = 0; n < 12; n += 1) {
        answers.push(await command(nats, `signage.${site}.command.lobby`, { command: 'pause', id: `one-${site}` }));
      }
      expect(answers).toEqual(answers.map(() => expect.objectContaining({ sent: 2, degraded: false })));
      for (let n = 0; n < 8; n += 1) await command(nats, `signage.${site}.command.all`, { command: 'next' });
      await command(nats, `signage.${site}.command.lobby`, { command: 'reload' });
      for (const page of pages) {
        await page.message((message) => message.command === 'reload');
        expect(heard(page)).toEqual(['pause', ...Array.from({ length: 8 }, () => 'next'), 'reload']);
      }
      await second.close();
      await first.close();
    }
  });

  test('a snapshot is that of the API, of all boxes', async () => {
    const { hub, nats } = await setUp();
    const service = await startMember(hub, { content, env: { SIGNAGE_SITE: 'Wien' } });
    await join(service, 'lobby');
    const snapshot = (slug: string) => ask(nats, `signage.Wien.connections.${slug}`, '');
    expect(await snapshot('lobby')).toEqual(await (await service.get('/api/screens/lobby/connections')).json());
    expect(await snapshot('nowhere')).toMatchObject({ error: { code: 'screen_not_found' } });
  });
});
