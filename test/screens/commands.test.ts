/** Each command: what is answered, and what the pages are told. */
import { describe, expect, test } from 'vitest';
import { commandResult } from '../../service/contract/commands.ts';
import { fields, lobby } from '../content/samples.ts';
import { joinScreen } from '../support/page.ts';
import { shareTestService } from '../support/service.ts';

const path = '/api/screens/lobby/commands';
const resultFields = {
  baseline: ['screen', 'screenSlug', 'command', 'connectionId', 'sent'],
  extended: ['screen', 'screenSlug', 'command', 'connectionId', 'sent', 'degraded'],
};
const both = ['refresh', 'reload', 'pause', 'blackout', 'previous', 'next', 'left', 'right'];

const extended = shareTestService({ content: lobby });
const baseline = shareTestService({ content: lobby, env: { SIGNAGE_VARIANT: 'baseline' } });
const services = { extended, baseline };

test('the baseline names no device: neither in the welcome nor in the label', async () => {
  const hello = { clientId: 'named', deviceId: 'd1', clientName: 'Lobby left' };
  const labelOf = async (service: ReturnType<typeof baseline>): Promise<string> => {
    const snapshot = await (await service.get('/api/screens/lobby/connections')).json();
    const { connections } = snapshot as { connections: { clientId: string; label: string }[] };
    return connections.find(({ clientId }) => clientId === 'named')?.label ?? '';
  };
  const page = await joinScreen(baseline(), 'lobby', hello);
  expect(Object.keys(page.welcome).toSorted()).toEqual(['connectionId', 'nodeId', 'revision', 'serverTime', 'type']);
  expect(await labelOf(baseline())).not.toContain('Lobby');
  const other = await joinScreen(extended(), 'lobby', hello);
  expect(other.welcome).toMatchObject({ clientName: 'Lobby left', proven: false });
  expect(await labelOf(extended())).toBe('Lobby left');
  for (const { socket } of [page, other]) socket.close();
});

describe.each(['extended', 'baseline'] as const)('in the %s variant', (variant) => {
  test.each(both)('%s', async (command) => {
    const service = services[variant]();
    const page = await joinScreen(service, 'lobby');
    const response = await service.post(path, { command });
    expect(response.status).toBe(200);
    const result = await response.json();
    expect(Object.keys(result)).toEqual(resultFields[variant]);
    expect(Object.keys(result.screen)).toEqual(fields.screen);
    const degraded = variant === 'extended' ? { degraded: false } : {};
    expect(result).toEqual({
      screen: result.screen,
      screenSlug: 'lobby',
      command,
      connectionId: null,
      sent: 1,
      ...degraded,
    });
    if (variant === 'extended') expect(commandResult.parse(result)).toEqual(result);
    expect(await page.message(({ type }) => type === 'command')).toEqual({ type: 'command', command });
  });

  test.each(['jump', '', 'Refresh', 'next ', '__proto__', 'constructor'])(
    'the unknown command %j is refused with the list of those that are known',
    async (command) => {
      const service = services[variant]();
      const response = await service.post(path, { command });
      const { error } = await response.json();
      expect([response.status, error.code, error.field]).toEqual([400, 'unknown_command', 'command']);
      const known = variant === 'extended' ? [...both, 'redirect', 'setclientname'] : both;
      const listed = error.message.slice(error.message.lastIndexOf(' are ') + 5, -1).split(', ');
      expect(listed.toSorted()).toEqual(known.toSorted());
    },
  );
});

test.each([
  { command: 'redirect', url: '/screen/bar' },
  { command: 'setclientname', clientName: 'Door', deviceId: 'device-1' },
])('the baseline does not know $command', async (order) => {
  const service = baseline();
  const page = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
  const response = await service.post(path, order);
  expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'unknown_command' } }]);
  expect(page.messages).toHaveLength(1);
});

test.each<[string, object, object]>([
  ['on', { blackout: true }, { blackout: true }],
  ['off', { blackout: false }, { blackout: false }],
  ['toggled', {}, {}],
])('a blackout is %s', async (_, given, told) => {
  const service = extended();
  const page = await joinScreen(service, 'lobby');
  expect((await service.post(path, { command: 'blackout', ...given })).status).toBe(200);
  const message = await page.message(({ type }) => type === 'command');
  expect(message).toEqual({ type: 'command', command: 'blackout', ...told });
});

test('pages are told nothing of a request but the command and its own arguments', async () => {
  const service = extended();
  const page = await joinScreen(service, 'lobby');
  const extra = { url: 'http://example.com/', blackout: true, connectionId: page.connectionId, note: 'x', type: 'y' };
  await service.post(path, { command: 'next', ...extra });
  expect(await page.message(({ type }) => type === 'command')).toEqual({ type: 'command', command: 'next' });
});

describe('redirect', () => {
  test.each([
    '/screen/bar',
    '/screen/bar?a=1',
    '/media/a%20b.html?x=1&y=/#top',
    'http://example.com',
    'https://example.com:8443/board?a=b#c',
    'HTTPS://EXAMPLE.COM/',
    'http://192.168.1.20/',
    'http://[::1]:80/',
    'http://bücher.example/ä',
    `https://example.com/${'x'.repeat(2000)}`,
  ])('to %s', async (url) => {
    const service = extended();
    const page = await joinScreen(service, 'lobby');
    const response = await service.post(path, { command: 'redirect', url });
    expect([response.status, await response.json()]).toMatchObject([200, { command: 'redirect', sent: 1 }]);
    expect(await page.message(({ type }) => type === 'command')).toEqual({ type: 'command', command: 'redirect', url });
  });

  test('to an absolute URL of this service is one to its path', async () => {
    const service = extended();
    const { port } = new URL(service.url);
    for (const host of ['127.0.0.1', 'LOCALHOST', '[::1]', '127.1', `user:pass@127.0.0.1`]) {
      const page = await joinScreen(service, 'lobby');
      await service.post(path, { command: 'redirect', url: `http://${host}:${port}/screen/bar?a=1` });
      expect(await page.message(({ type }) => type === 'command')).toMatchObject({ url: '/screen/bar?a=1' });
      page.socket.terminate();
    }
  });

  test.each(['/', '/onboard', '/healthz', '/media/con', '/media/..%2fhealthz', '/screen/../healthz', '/console'])(
    'not to %s, by its path nor by its URL, where no command would reach the page',
    async (own) => {
      const service = extended();
      const page = await joinScreen(service, 'lobby');
      for (const url of [own, service.url + own, service.url.replace('127.0.0.1', 'localhost') + own]) {
        const response = await service.post(path, { command: 'redirect', url });
        expect([response.status, await response.json()]).toMatchObject([
          400,
          { error: { code: 'invalid_field', field: 'url' } },
        ]);
      }
      expect(page.messages).toHaveLength(1);
    },
  );

  test.each<[unknown, string]>([
    [undefined, 'missing_field'],
    [null, 'missing_field'],
    ['', 'invalid_field'],
    [7, 'invalid_field'],
    [['/'], 'invalid_field'],
    ['screen/bar', 'invalid_field'],
    ['example.com', 'invalid_field'],
    ['//evil.com/', 'invalid_field'],
    ['/\\evil.com/', 'invalid_field'],
    ['/\t/evil.com/', 'invalid_field'],
    ['/\n/evil.com/', 'invalid_field'],
    ['\\\\evil.com', 'invalid_field'],
    [' /screen/bar', 'invalid_field'],
    ['javascript:alert(1)', 'invalid_field'],
    ['java\nscript:alert(1)', 'invalid_field'],
    ['data:text/html,hello', 'invalid_field'],
    ['file:///etc/passwd', 'invalid_field'],
    ['ftp://example.com/', 'invalid_field'],
    ['http://', 'invalid_field'],
    ['http:///evil.com', 'invalid_field'],
    ['http:example.com', 'invalid_field'],
    ['https://exa mple.com/', 'invalid_field'],
    ['http://example.com:99999/', 'invalid_field'],
    [`https://example.com/${'x'.repeat(2048)}`, 'invalid_field'],
  ])('not to %j', async (url, code) => {
    const service = extended();
    const page = await joinScreen(service, 'lobby');
    const response = await service.post(path, { command: 'redirect', url });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code, field: 'url' } }]);
    expect(page.messages).toHaveLength(1);
  });
});
