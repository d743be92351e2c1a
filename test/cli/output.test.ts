/** What is printed, into pipes and on terminals. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { columns, safeJson, visible } from '../../service/cli/text.ts';
import { lobby } from '../content/samples.ts';
import { temporaryFolder } from '../support/service.ts';
import { joinSite, program, secret, shareSite } from './support.ts';
import { hasTerminal, openTerminal } from './terminal.ts';

/** Sets the title of the window, clears it, colours what follows, and turns its direction. */
const hostile = 'Bar\x1b]0;owned\x07\x1b[2J\x9b31m\u202ednuor\nforged line';
const site = shareSite({
  ...lobby,
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome' },
    { name: hostile, slug: 'bar', playlist_id: 'welcome' },
  ],
});

const anyControl = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/;

test('control characters are written out, and widths are those of a terminal', () => {
  expect(visible(hostile)).toBe('Bar\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\u202ednuor\\nforged line');
  expect(JSON.parse(safeJson({ hostile }))).toEqual({ hostile });
  expect(safeJson({ hostile })).not.toMatch(anyControl);
  expect(
    columns([
      ['a', 'b'],
      ['会議室', 'c'],
      ['x\ty', ''],
    ]),
  ).toEqual(['a       b', '会議室  c', 'x\\ty']);
});

test('texts by others can do nothing to a terminal, in tables and in JSON', async () => {
  const { one, run } = site();
  await joinSite(one, 'bar', { clientId: 'evil', page: `/screen/bar?${hostile}` });
  for (const args of [['screens'], ['show', 'bar'], ['devices', 'list'], ['boxes'], ['screens', '--json']]) {
    const { stdout, stderr, code } = await run(args);
    expect(stdout + stderr).not.toMatch(anyControl);
    expect(code).toBe(0);
  }
  const { stdout } = await run(['show', 'bar', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ screens: [{ screen: { slug: 'bar', name: hostile } }] });
});

test('a reader that leaves early ends the run quietly', async () => {
  const { one } = site();
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', SIGNAGE_BOX: one.url, SIGNAGE_SHARED_SECRET: secret };
  const child = spawn('sh', ['-c', `'${program}' screens --json | head -c 1`], { env });
  let words = '';
  child.stderr.on('data', (text) => {
    words += String(text);
  });
  const [code] = await once(child, 'close');
  expect({ words, code }).toEqual({ words: '', code: 0 });
});

test.each([
  ['stderr', ['show', 'nosuch'], 3],
  ['stdout', ['show', 'nosuch', '--json'], 3],
  ['stdout', ['plays', 'export', '--format', 'json'], 0],
  ['stdout', ['show', 'lobby', '--watch'], 0],
  ['stdout', ['log', 'http://127.0.0.1', '--follow'], 0],
] as const)('a %s that nobody reads ends no work halfway: signage %j ends with %d', async (name, args, code) => {
  const { one } = site();
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', SIGNAGE_BOX: one.url, SIGNAGE_SHARED_SECRET: secret };
  const child = spawn(
    program,
    args.map((each) => (each === 'http://127.0.0.1' ? one.url : each)),
    { env },
  );
  child[name].destroy();
  const [ended] = await once(child, 'close');
  expect(ended).toBe(code);
});

test('show --watch prints what has changed into a pipe', async () => {
  const { one, run } = site();
  let joining: Promise<unknown> | undefined;
  const watching = run(['show', 'lobby', '--watch', '--json'], {
    until: (stdout) => {
      joining ??= joinSite(one, 'lobby', { clientId: 'watched' });
      return stdout.includes('"watched"');
    },
  });
  await joining;
  const lines = (await watching).stdout.trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ screens: [{ connections: [{ clientId: 'watched' }] }] });
});

describe.skipIf(!hasTerminal)('on a terminal (needs script)', () => {
  const env = (): NodeJS.ProcessEnv => ({
    HOME: temporaryFolder(),
    SIGNAGE_BOX: site().one.url,
    SIGNAGE_SHARED_SECRET: secret,
  });

  test('there are colours, unless NO_COLOR is set', async () => {
    const coloured = openTerminal(`${program} screens`, env());
    await coloured.ended;
    expect(coloured.screen()).toContain('\x1b[1mSCREEN');
    const plain = openTerminal(`${program} screens`, { ...env(), NO_COLOR: '1' });
    await plain.ended;
    expect(plain.screen()).toContain('SCREEN');
    expect(plain.screen()).not.toContain('\x1b');
  });

  test('what takes something away asks first', async () => {
    const { run } = site();
    const devices = async (): Promise<string> => (await run(['devices', 'list'])).stdout;
    expect(await run(['onboard', 'door-7', 'lobby', '--name', 'Door'])).toMatchObject({ code: 0 });
    const declined = openTerminal(`${program} devices forget door-7`, env());
    await declined.until('Forget the device door-7? [y/N]');
    declined.type('\n');
    expect(await declined.ended).toBe(1);
    expect(declined.screen()).toContain('Nothing was changed.');
    expect(await devices()).toContain('door-7');
    const agreed = openTerminal(`${program} devices forget door-7`, env());
    await agreed.until('Forget the device');
    agreed.type('y\n');
    expect(await agreed.ended).toBe(0);
    expect(await devices()).not.toContain('door-7');
  });

  test('an upload has a bar, which leaves nothing behind', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'film.mp4'), Buffer.alloc(8 * 1024 ** 2, 'x'));
    const put = openTerminal(`${program} media put ${join(folder, 'film.mp4')}`, env());
    expect(await put.ended).toBe(0);
    expect(put.screen()).toMatch(/\r█+░* \d+% of 8\.0 MiB film\.mp4/);
    expect(put.screen().endsWith('\r\x1b[Kuploaded  film.mp4\r\n')).toBe(true);
  });

  test('show --watch repaints in place', async () => {
    const { one } = site();
    const watching = openTerminal(`${program} show lobby --watch`, env());
    await watching.until('Lobby (lobby)');
    await joinSite(one, 'lobby', { clientId: 'watched', clientName: 'Door 9' });
    await watching.until('Door 9');
    watching.type('\x03');
    await watching.ended;
    expect(watching.screen().match(/\x1b\[H/g)?.length).toBeGreaterThan(1);
  });
});
