/** Which pages may change something: those of this service, and nobody else's. */
import { describe, expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { joinScreen } from '../support/page.ts';
import { shareTestService } from '../support/service.ts';
import { codeOf, exchange } from './raw.ts';

const path = '/api/screens/lobby/commands';
const body = JSON.stringify({ command: 'next' });
const env = { SIGNAGE_ALLOWED_HOSTS: 'signage.example.com', SIGNAGE_PUBLIC_URL: 'https://screens.example.net:8443' };

const service = shareTestService({ content: lobby, env });

const command = async (lines: readonly string[]) => {
  const page = await joinScreen(service(), 'lobby');
  const head = [`POST ${path} HTTP/1.1`, 'Content-Type: application/json', `Content-Length: ${body.length}`];
  const answer = await exchange(service().url, [...head, ...lines], body);
  if (answer.status === 200) await page.message(({ type }) => type === 'command');
  return { answer, messages: page.messages };
};

describe('let in', () => {
  test.each<[string, string[]]>([
    ['no Origin: a program', ['Host: box:8080']],
    ['its own', ['Host: box:8080', 'Origin: http://box:8080']],
    ['its own in capitals', ['Host: BOX:8080', 'Origin: http://box:8080']],
    ['its own, the port left out', ['Host: box:80', 'Origin: http://box']],
    ['its own behind TLS', ['Host: box', 'Origin: https://box']],
    ['its own, the port of TLS left out', ['Host: box:443', 'Origin: https://box']],
    ['its own as an address', ['Host: [::1]:8080', 'Origin: http://[::1]:8080']],
    ['the public one', ['Host: box', 'Origin: https://screens.example.net:8443']],
    ['an allowed name', ['Host: box', 'Origin: https://signage.example.com']],
    ['an allowed name on any port', ['Host: box', 'Origin: http://signage.example.com:3000']],
    ['a page of this service', ['Host: box', 'Origin: http://box', 'Sec-Fetch-Site: same-origin']],
    ['somebody at the address bar', ['Host: box', 'Sec-Fetch-Site: none']],
    [
      'a page on an allowed host that calls the box by address',
      ['Host: 192.168.1.20:8080', 'Origin: https://signage.example.com', 'Sec-Fetch-Site: cross-site'],
    ],
    [
      'a page at the public address, likewise',
      ['Host: 192.168.1.20:8080', 'Origin: https://screens.example.net:8443', 'Sec-Fetch-Site: cross-site'],
    ],
    ['no Origin, but a Referer: a program', ['Host: box', 'Referer: http://evil.com/page']],
    ['its own, whatever the Referer', ['Host: box', 'Origin: http://box', 'Referer: https://evil.com/']],
  ])('%s', async (_, lines) => {
    expect((await command(lines)).answer.status).toBe(200);
  });
});

describe('refused with 403', () => {
  test.each<[string, string[]]>([
    ['null', ['Origin: null']],
    ['another site', ['Origin: https://evil.com']],
    ['another port', ['Origin: http://box:9090']],
    ['no port', ['Origin: http://box']],
    ['another name of the same machine', ['Origin: http://localhost:8080']],
    ['the port of another scheme', ['Origin: https://box:80']],
    ['a longer name', ['Origin: http://box:8080.evil.com']],
    ['a name before an @', ['Origin: http://box:8080@evil.com']],
    ['the public name on another port', ['Origin: https://screens.example.net']],
    ['a name below an allowed one', ['Origin: https://x.signage.example.com']],
    ['an extension', ['Origin: chrome-extension://box:8080']],
    ['a file', ['Origin: file://']],
    ['nothing', ['Origin: ']],
    ['nonsense', ['Origin: box:8080']],
    ['two', ['Origin: http://box:8080', 'Origin: https://evil.com']],
    ['two in one', ['Origin: http://box:8080 https://evil.com']],
    ['cross-site, without Origin', ['Sec-Fetch-Site: cross-site']],
    [
      'the Origin of another site with Sec-Fetch-Site: same-origin',
      ['Origin: https://evil.com', 'Sec-Fetch-Site: same-origin'],
    ],
    ['null, from another site', ['Origin: null', 'Sec-Fetch-Site: cross-site']],
    ['null, from somebody at the address bar', ['Origin: null', 'Sec-Fetch-Site: none']],
  ])('%s', async (_, lines) => {
    const { answer, messages } = await command(['Host: box:8080', ...lines]);
    expect([answer.status, codeOf(answer)]).toEqual([403, 'origin_refused']);
    expect(messages.map(({ type }) => type)).toEqual(['welcome']);
  });
});

const fromElsewhere = (start: string) =>
  exchange(service().url, [`${start} HTTP/1.1`, 'Host: box', 'Origin: https://evil.com']);

test.each(['PUT /api/media/a.png', 'DELETE /api/media/a.png', 'PUT /console/api/content'])(
  'the origin of %s is checked like that of POST',
  async (start) => {
    const answer = await fromElsewhere(start);
    expect([answer.status, codeOf(answer)]).toEqual([403, 'origin_refused']);
  },
);

test('what is not there is told before the origin is checked', async () => {
  expect((await fromElsewhere(`PATCH ${path}`)).status).toBe(405);
  expect((await fromElsewhere('POST /api/gone')).status).toBe(404);
});

test.each([
  '/api/rtmp/session?source=http://a/b',
  '/api/frames?url=http://a/b&origin=http://box',
  '/api/peers/state?from=x',
])('the origin of %s is checked like that of POST, as it has side effects', async (target) => {
  const ask = async (...lines: string[]) =>
    codeOf(await exchange(service().url, [`GET ${target} HTTP/1.1`, 'Host: box', ...lines]));
  for (const foreign of ['Referer: http://evil.com/', 'Referer: http://box:9090/', 'Referer: about:blank']) {
    expect(await ask(foreign)).toBe('origin_refused');
  }
  expect(await ask('Sec-Fetch-Site: cross-site')).toBe('origin_refused');
  expect(await ask('Referer: http://box/screen/lobby')).toBe('invalid_field');
  expect(await ask('Referer: https://screens.example.net:8443/')).toBe('invalid_field');
  expect(await ask('Referer: ')).toBe('invalid_field');
  expect(await ask()).toBe('invalid_field');
});

test('any origin may send a read request, but no response lets its page read it', async () => {
  const headers = { Origin: 'https://evil.com', Referer: 'https://evil.com/', 'Sec-Fetch-Site': 'cross-site' };
  for (const path of ['/api/screens/lobby/playlist', '/api/screens/lobby/connections', '/healthz', '/screen/lobby']) {
    const response = await service().get(path, { headers });
    expect(response.status).toBe(200);
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});
