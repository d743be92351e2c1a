/** Secrets of pages: set over https or at the box, shared sealed, and told by nothing. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type SecretRecord, secretRequest } from '../../service/contract/console/secrets.ts';
import { webLook } from '../../service/contract/web-look.ts';
import { newest } from '../../service/domain/merge.ts';
import { originIssue, originOf, styleIssue } from '../../service/domain/page-address.ts';
import { undatedSecret } from '../../service/secrets/index.ts';
import { signageHere } from '../cli/support.ts';
import { lobbyWith } from '../content/samples.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { healthOf, patience } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { localHeaders } from '../support/people.ts';
import { startTestService } from '../support/service.ts';

const value = 'Bearer 5ecret-Value-77f1';
const origins = ['https://dash.example.com'];
const body = { origins, headers: { Authorization: value } };
const path = '/console/api/secrets/dash';
const env = secretSettings(operatorSecret);
const web = (headers: string, media_url = 'https://dash.example.com/wall') =>
  lobbyWith([{ id: 'wall', kind: 'web', media_url, content: { web: { headers } } }]);

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());

test('a secret reaches all boxes, and no answer, log, audit, backup or file holds its value', async () => {
  const first = await startBox([], { content: web('dash'), env });
  const second = await startBox([first], { content: undefined, env });
  await untilTogether([first, second]);
  const ask = createOperator(first, operatorSecret);
  const answers: string[] = [];
  const call = async (...given: Parameters<typeof ask>): Promise<[number, unknown]> => {
    const answer = await ask(...given);
    const text = await answer.text();
    answers.push(text);
    return [answer.status, text === '' ? null : JSON.parse(text)];
  };
  expect((await ask('POST', '/console/api/content/check', web('dash'))).status).toBe(200);
  // Over plain http everybody on the way could read it.
  expect(await refusalOf(await ask('PUT', path, body))).toEqual([403, 'secure_required']);
  const local = localHeaders(first);
  const set = { name: 'dash', origins, updated_at: expect.any(String) };
  expect(await call('PUT', path, body, local)).toEqual([201, set]);
  expect(await call('PUT', path, body, local)).toEqual([200, set]);
  expect(await call('GET', '/console/api/secrets')).toEqual([200, { secrets: [set] }]);
  const other = createOperator(second, operatorSecret);
  const listed = async () => (await other('GET', '/console/api/secrets')).json();
  await expect.poll(listed, patience).toEqual({ secrets: [set] });
  expect(second.pageHeaders('dash')).toMatchObject(body);

  await call('GET', '/console/api/audit');
  expect(answers.at(-1)).toContain('secret.set');
  await call('GET', '/console/api/content');
  answers.push(await (await first.get('/api/screens/lobby/playlist')).text(), JSON.stringify(await healthOf(first)));
  answers.push(first.log(), second.log(), await (await ask('GET', '/console/api/backup')).text());
  for (const [, file] of [first, second].flatMap(({ dataDir }) => filesIn(dataDir)).entries()) {
    answers.push(readFileSync(file, 'latin1'));
  }
  for (const text of answers) {
    expect(text).not.toContain('5ecret-Value');
    expect(text).not.toContain(Buffer.from(value).toString('base64').slice(4, 20));
  }
  expect(statSync(join(first.dataDir, 'shared', 'secrets.json')).mode & 0o777).toBe(0o600);

  expect((await ask('DELETE', path)).status).toBe(204);
  expect(await refusalOf(await ask('DELETE', path))).toEqual([404, 'secret_not_found']);
  await expect.poll(listed, patience).toEqual({ secrets: [] });
  expect(second.pageHeaders('dash')).toBeNull();
});

test('a slide names a secret for its own origins alone', async () => {
  const service = await startTestService({ env, content: lobbyWith([]) });
  const ask = createOperator(service, operatorSecret);
  await ask('PUT', path, body, localHeaders(service));
  const check = async (content: unknown) => (await ask('POST', '/console/api/content/check', content)).json();
  expect(await check(web('dash'))).toMatchObject({ ok: true, warnings: [] });
  expect(await check(web('other'))).toMatchObject({
    ok: true,
    warnings: [
      {
        path: 'playlists[0].slides[0].content.web.headers',
        message: expect.stringMatching(/^"wall": there is no secret "other"/),
      },
    ],
  });
  for (const address of [
    'https://dash.example.com.evil.example/',
    'https://dash.example.com@evil.example/',
    'https://dash.example.com:8443/',
    'http://dash.example.com/',
    'https://dash.example.com./',
    'https://dаsh.example.com/',
    'https://DASH.example.com.:443/',
  ]) {
    const answer = await check(web('dash', address));
    expect(answer, address).toMatchObject({
      ok: false,
      errors: [
        {
          path: 'playlists[0].slides[0].content.web.headers',
          message: '"wall": the secret "dash" is for other addresses, and not for the address of this slide',
        },
      ],
    });
  }
  service.writeContent(web('dash', 'https://evil.example/'));
  await expect.poll(async () => (await healthOf(service)).content.status, patience).toBe('invalid');

  // A secret that changes after the content that names it is told of where it plays.
  service.writeContent(web('dash'));
  await expect.poll(async () => (await healthOf(service)).content.status, patience).toBe('ok');
  const told = async () => (await healthOf(service)).content.warnings.map(({ message }) => message);
  expect(await told()).toEqual([]);
  await ask('PUT', path, { ...body, origins: ['https://other.example.com'] }, localHeaders(service));
  expect(await told()).toEqual([
    '"wall": the secret "dash" is for other addresses, and not for the address of this slide',
  ]);
  await ask('DELETE', path);
  expect(await told()).toEqual(['"wall": there is no secret "dash": the slide is skipped']);
});

test('without a secret of the site there are none', async () => {
  const service = await startTestService();
  const answer = await service.get(path, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json', ...localHeaders(service) },
    body: JSON.stringify(body),
  });
  expect(await refusalOf(answer)).toEqual([409, 'secret_required']);
});

test('the command line reads the value from standard input, and never shows it', async () => {
  const service = await startTestService({ env });
  const settings = { SIGNAGE_SHARED_SECRET: operatorSecret, SIGNAGE_DATA_DIR: service.dataDir };
  const signage = (args: string[], input = '') =>
    signageHere(['--box', service.url, ...args], settings, { stdin: Readable.from([input]) });
  const set = await signage(['secrets', 'set', 'dash', '--origin', origins[0] ?? ''], `${value}\n`);
  expect([set.code, set.stdout, set.stderr]).toEqual([0, 'dash goes to https://dash.example.com.\n', '']);
  expect(service.pageHeaders('dash')).toMatchObject(body);
  const listed = await signage(['secrets', 'list']);
  expect(listed.stdout).toMatch(/^NAME +ORIGINS +SET\ndash +https:\/\/dash\.example\.com /);
  expect(listed.stdout).not.toContain('5ecret');
  expect((await signage(['secrets', 'set', 'dash'], value)).code).toBe(2);
  expect((await signage(['secrets', 'delete', 'dash', '--yes'])).code).toBe(0);
  expect((await signage(['secrets', 'list', '--json'])).stdout).toContain('"secrets": []');
});

describe('an origin', () => {
  test.each([
    'https://dash.example.com',
    'https://dash.example.com:8443',
    'http://192.168.1.5:3000',
    'http://[fd12::1]',
  ])('%s is taken', (origin) => expect(originIssue(origin)).toBeNull());
  test.each([
    'http://dash.example.com',
    'http://dash.local',
    'https://dash.example.com/',
    'https://dash.example.com:443',
    'https://DASH.example.com',
    'https://user@dash.example.com',
    'https://*.example.com',
    'https://dash.example.com.',
    'https://dаsh.example.com',
    'https://dash.example.com/a',
    'ftp://dash.example.com',
    'wss://dash.example.com',
    'null',
    '',
  ])('%j is refused', (origin) => expect(originIssue(origin)).not.toBeNull());
  test('of a WebSocket is that of its page', () => {
    expect(originOf('wss://dash.example.com/live')).toBe('https://dash.example.com');
    expect(originOf('data:text/html,')).toBeNull();
  });
});

describe('the headers of a secret', () => {
  test.each<[Record<string, string>, boolean]>([
    [{ Authorization: 'Bearer a' }, true],
    [{ 'X-Api-Key': 'a', Cookie: 'b=c' }, true],
    [{}, false],
    [{ Host: 'dash.example.com' }, false],
    [{ 'Content-Length': '1' }, false],
    [{ 'Sec-Fetch-Site': 'none' }, false],
    [{ 'Bad Name': 'a' }, false],
    [{ A: 'a\r\nB: b' }, false],
    [{ A: 'ä' }, false],
    [{ a: '1', A: '2' }, false],
    [{ A: 'a'.repeat(8_193) }, false],
  ])('%j', (headers, isTaken) => expect(secretRequest.safeParse({ origins, headers }).success).toBe(isTaken));
});

describe('a style sheet for a page', () => {
  const address = 'https://dash.example.com/wall';
  test.each([
    'header { display: none }',
    'b::before { content: "a: //b" }',
    'a { background: url(/a.png), url("b.png"), url(https://dash.example.com/c.png), url(data:image/png;base64,AA) }',
  ])('%j is taken', (css) => expect(styleIssue(css, address)).toBeNull());
  test.each([
    'a { background: url(https://evil.example/a) }',
    'a { background: url( "//evil.example/a" ) }',
    'a { background: URL(\\2f\\2f evil.example/a) }',
    'a { background: u\\72l(//evil.example/a) }',
    'a { background: url("/\t/evil.example/a") }',
    'a { background: url("\\\\\\\\evil.example/a") }',
    'a { background: url(http:evil.example) }',
    'a { background: url(//evil.example/a',
    'a { background: url("https://dash.example.com)@evil.example/a") }',
    'a { background: url(/*) } b { background: url(//evil.example/a) /*) }',
    'a { content: "url("; background: url("//evil.example/a") }',
    'a { background: url("/a\\"//"), url(//evil.example) }',
    '@import "https://evil.example/a.css";',
    '@\\69mport "//evil.example/a.css";',
    'a { background: image-set("https://evil.example/a" 1x) }',
  ])('%j is refused', (css) => expect(styleIssue(css, address)).not.toBeNull());
});

test('boxes agree on secrets in whatever order they hear of them', () => {
  const record: fc.Arbitrary<SecretRecord> = fc.record({
    id: fc.constant('dash'),
    origins: fc.constantFrom<string[]>(['https://a.example'], ['https://b.example']),
    headers: fc.constantFrom<Record<string, string>>({ A: '1' }, { A: '2' }, {}),
    updated_at: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'),
    removed_at: fc.constantFrom(null, '2026-01-02T00:00:00.000Z'),
  });
  fc.assert(
    fc.property(record, record, record, (a, b, c) => {
      expect(newest(a, b)).toEqual(newest(b, a));
      expect(newest(a, newest(b, c))).toEqual(newest(newest(a, b), c));
      expect(newest(a, a)).toEqual(a);
    }),
  );
});

test('a secret that was deleted while a clock was years ahead stays so, until somebody sets it again', () => {
  const now = Date.UTC(2026, 10, 26);
  const at = (ms: number): string => new Date(now + ms).toISOString();
  const live = (updated_at: string): SecretRecord => ({ id: 'dash', ...body, updated_at, removed_at: null });
  const deleted = { ...live(at(20 * 365 * 86_400_000)), origins: [], headers: {}, removed_at: at(0) };
  const old = live(at(-86_400_000));
  expect(newest(undatedSecret(deleted, now), old)).toMatchObject({ headers: {}, removed_at: expect.any(String) });
  expect(newest(undatedSecret(deleted, now), live(at(0)))).toEqual(live(at(0)));
  // What was set by such a clock is older than all else.
  expect(newest(undatedSecret(live(at(20 * 365 * 86_400_000)), now), old)).toEqual(old);
});

test('the style sheet of a page has a limit in bytes', () => {
  const { css } = webLook;
  expect(css.safeParse('é'.repeat(8_192)).success).toBe(true);
  expect(css.safeParse('é'.repeat(8_193)).success).toBe(false);
  expect(css.safeParse('e'.repeat(16_385)).success).toBe(false);
});
