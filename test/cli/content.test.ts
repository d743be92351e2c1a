/** Content from the command line: check, compare, publish, get, revert. */
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { lobbyWith } from '../content/samples.ts';
import { patience, titlesOf } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { pipeTo, secret, shareSite } from './support.ts';

const saying = (title: string) => lobbyWith([{ kind: 'text', title }]);
const site = shareSite(saying('Good morning'));

beforeEach(async () => {
  const { one, other } = site();
  one.writeContent(saying('Good morning'));
  for (const box of [one, other]) await expect.poll(() => titlesOf(box), patience).toEqual(['Good morning']);
});

const file = (content: unknown): string => {
  const path = join(temporaryFolder(), 'content.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

test('an edit is pulled, compared, published at the whole site, and reverted', async () => {
  const { other, run } = site();
  const path = file('');
  expect(await run(['content', 'pull', path])).toMatchObject({ stdout: '', code: 0 });
  expect(await run(['content', 'diff', path])).toEqual({
    stdout: '',
    stderr: `${path} is what plays.\n`,
    code: 0,
  });
  writeFileSync(path, readFileSync(path, 'utf8').replace('Good morning', 'Good evening'));
  const difference = await run(['content', 'diff', path]);
  expect(difference.stdout).toMatch(/-\s+"title": "Good morning"\n\+\s+"title": "Good evening"\n/);
  expect(difference).toMatchObject({ stderr: '1 line added, 1 removed.\n', code: 0 });

  const refused = await run(['content', 'push', path]);
  expect(refused).toMatchObject({ stdout: '', code: 2 });
  expect(refused.stderr).toContain('add --yes');
  const pushed = await run(['content', 'push', path, '--yes', '--json']);
  expect(pushed.code).toBe(0);
  const { sha256 } = JSON.parse(pushed.stdout) as { sha256: string };
  await expect.poll(() => titlesOf(other), patience).toEqual(['Good evening']);

  const { versions } = JSON.parse((await run(['content', 'versions', '--json'])).stdout) as {
    versions: { sha256: string; operator: string | null }[];
  };
  expect(versions[0]).toMatchObject({ sha256, operator: 'Jürgen' });
  const table = await run(['content', 'versions']);
  expect(table.stdout).toContain(sha256.slice(0, 12));
  const earlier = versions.at(-1)?.sha256 ?? '';
  expect(await run(['content', 'revert', earlier.slice(0, 12), '--yes'])).toMatchObject({ code: 0 });
  await expect.poll(() => titlesOf(other), patience).toEqual(['Good morning']);
  expect(await run(['content', 'revert', '0'.repeat(64), '--yes'])).toMatchObject({ stdout: '', code: 3 });
});

test('a document is pulled into a pipe, which stays one, and a missing folder is told', async () => {
  const { run } = site();
  const folder = temporaryFolder();
  const [pipe, copy] = [join(folder, 'pipe'), join(folder, 'copy.json')];
  const read = pipeTo(pipe, `cat > ${copy}`);
  expect(await run(['content', 'pull', pipe])).toMatchObject({ stdout: '', code: 0 });
  expect(lstatSync(pipe).isFIFO()).toBe(true);
  await read;
  expect(readFileSync(copy, 'utf8')).toContain('Good morning');
  const missing = join(folder, 'missing', 'content.json');
  expect(await run(['content', 'pull', missing])).toMatchObject({
    stderr: `Error: ${missing} cannot be written (ENOENT).\n`,
    code: 2,
  });
});

test('a document that is not valid is refused with its faults, and nothing changes', async () => {
  const { one, run } = site();
  const before = await titlesOf(one);
  const path = file({ ...saying('x'), screens: [{ name: 'Lobby', slug: 'No Slug', playlist_id: 'welcome' }] });
  const checked = await run(['content', 'check', path]);
  expect(checked).toMatchObject({ stderr: `Error: ${path} has 1 error.\n`, code: 1 });
  expect(checked.stdout).toMatch(/^error {2}screens\[0\]\.slug {2}/);
  const json = await run(['content', 'check', path, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, errors: [{ path: 'screens[0].slug' }] });
  expect(await run(['content', 'push', path, '--yes'])).toMatchObject({ stdout: checked.stdout, code: 1 });
  // Its indentation alone is beyond the limit.
  const spaced = `${JSON.stringify(saying('x'))}${' '.repeat(5 * 1024 ** 2)}`;
  expect(await run(['content', 'check', file(spaced)])).toMatchObject({ stdout: '', code: 0 });
  const broken = await run(['content', 'check', file('{"screens":')]);
  expect(broken).toMatchObject({ stdout: '', code: 1 });
  expect(broken.stderr).toContain('is not JSON');
  expect(await run(['content', 'check', '/nosuch.json'])).toMatchObject({ stdout: '', code: 2 });
  expect(await titlesOf(one)).toEqual(before);
});

test('a document comes from standard input and goes to standard output', async () => {
  const { run } = site();
  const { stdout: pulled } = await run(['content', 'pull']);
  expect(await run(['content', 'check', '-'], { input: pulled })).toMatchObject({ stdout: '', code: 0 });
  expect(JSON.parse((await run(['content', 'pull', '--json'])).stdout)).toMatchObject({ content: JSON.parse(pulled) });
});

test('the audit says who published', async () => {
  const { run } = site();
  await run(['content', 'push', file(saying('Good night')), '--yes', '--as', 'Ada']);
  const { stdout, code } = await run(['audit', '--json']);
  expect(code).toBe(0);
  const { records } = JSON.parse(stdout) as { records: object[] };
  expect(records).toContainEqual(expect.objectContaining({ operator: 'Ada', action: 'content.publish', result: 'ok' }));
});

test('a draft is listed, shown with its difference, and published as it was looked at', async () => {
  const { one, run } = site();
  await run(['content', 'push', file(saying('Good morning')), '--yes']);
  const played = async (): Promise<{ sha256: string; content: Record<string, unknown> }> =>
    JSON.parse((await run(['content', 'pull', '--json'])).stdout);
  const drafted = async (id: string, title: string, base: string): Promise<void> => {
    const body = JSON.stringify({ title: 'Easter', base_sha256: base, content: saying(title) });
    const url = `${one.url}/console/api/drafts/${id}`;
    const headers = signRequest({ secret, method: 'PUT', url, body });
    const sent = await fetch(url, { method: 'PUT', body, headers: { ...headers, 'Content-Type': 'application/json' } });
    expect(sent.status).toBe(201);
  };
  const { sha256: base } = await played();
  await drafted('easter', 'Good Easter', base);
  await drafted('later', 'Good Pentecost', base);
  const list = await run(['drafts', 'list', '--json']);
  expect(JSON.parse(list.stdout)).toMatchObject({ drafts: [{ id: 'later' }, { id: 'easter', title: 'Easter' }] });
  expect((await run(['drafts', 'list'])).stdout).toMatch(/^ID +TITLE [^]*\neaster +Easter +open /);
  const shown = await run(['drafts', 'show', 'easter']);
  expect(shown.stdout).toMatch(/^title +Easter\n[^]*\n-\s+"title": "Good morning"\n\+\s+"title": "Good Easter"\n/);
  expect(shown).toMatchObject({ stderr: 'It differs: 1 line added, 1 removed.\n', code: 0 });
  const whole = JSON.parse((await run(['drafts', 'show', 'easter', '--json'])).stdout);
  expect(whole).toMatchObject({ id: 'easter', content: saying('Good Easter') });

  const published = await run(['drafts', 'publish', 'easter', '--json']);
  expect([published.code, JSON.parse(published.stdout)]).toEqual([
    0,
    { sha256: (await played()).sha256, changedAt: expect.any(String), warnings: expect.any(Array) },
  ]);
  expect((await run(['drafts', 'show', 'easter'])).code).toBe(3);
  const late = await run(['drafts', 'publish', 'later', '--yes']);
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('\nplaylists[0].slides\n')]);
  expect((await run(['drafts', 'publish', 'No Id', '--yes'])).code).toBe(2);
});

test('a difference leaves out what may be a key to an address', async () => {
  const { run } = site();
  const framing = (url: string) => lobbyWith([{ kind: 'web', media_url: url }]);
  await run(['content', 'push', file(framing('https://ada:old@example.org/board?token=1')), '--yes']);
  const path = file(framing('https://ada:new@example.org/board?token=2'));
  expect(await run(['content', 'diff', path])).toEqual({
    stdout: '',
    stderr: 'The two differ in users, passwords, queries and fragments of addresses alone.\n',
    code: 0,
  });
  expect((await run(['content', 'push', path, '--yes'])).code).toBe(0);
  expect((await run(['content', 'pull'])).stdout).toContain('ada:new@');
  const other = await run(['content', 'diff', file(framing('https://ada:new@example.org/menu?token=2'))]);
  expect(other.stdout).toContain('-          "media_url": "https://example.org/board"');
  expect(other.stdout).not.toContain('token');
});
