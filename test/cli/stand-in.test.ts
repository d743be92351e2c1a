/** What is sent to a box, and what its answers become, seen by a stand-in of a box. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, linkSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import type { Health } from '../../service/contract/health.ts';
import type { MediaList } from '../../service/contract/media.ts';
import { listenOn } from '../peers/support.ts';
import { exampleOf, startHostileBox } from '../support/hostile-box.ts';
import { temporaryFolder } from '../support/service.ts';
import { program, signage, signageHere } from './support.ts';

const site = exampleOf<SiteOverview>('GET /console/api/site');
const [box0] = site.boxes as [SiteOverview['boxes'][number]];
const [screen0] = site.screens as [SiteOverview['screens'][number]];
const [connection0] = screen0.connections as [(typeof screen0.connections)[number]];
const connection = (id: string) => ({ ...connection0, id, clientId: `client of ${id}`, label: id });
const screen = (slug: string, connections = [connection0]) => ({
  screen: { ...screen0.screen, id: slug, name: slug, slug },
  tags: ['public'],
  devices: [],
  connections,
});
const overview: SiteOverview = {
  ...site,
  boxes: [{ ...box0, nodeId: 'n1' }],
  screens: [screen('lobby', [connection('c1'), connection('c2')]), screen('bar', [connection('c3')])],
  takeovers: [],
};
const picture = { 'Content-Type': 'image/jpeg', 'x-signage-captured-at': '2026-11-22T08:00:00.000Z' };
const takeover = exampleOf<SiteOverview['takeovers'][number]>('PUT /console/api/takeovers/:id');

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A box that answers with the site, and else as it is told. */
const startStandIn = (handle: Handle, seen: object = overview): Promise<string> =>
  startHostileBox((request, response, body) => {
    if (request.url === '/console/api/site') response.end(JSON.stringify(seen));
    else handle(request, response, body);
  });

const refuse = (response: ServerResponse, status: number, code: string): void => {
  response.writeHead(status).end(JSON.stringify({ error: { code, message: `It is ${code}.` } }));
};

test('a takeover ends by the clock of the box, and its id begins with its title', async () => {
  const asked: { url: string; body: Record<string, unknown> }[] = [];
  const boxTime = Date.now() + 7_200_000;
  const box = await startStandIn((request, response, body) => {
    asked.push({ url: `${request.method} ${request.url}`, body: JSON.parse(body) });
    response.end(JSON.stringify({ ...takeover, ...JSON.parse(body) }));
  });
  const proxy = await listenOn(
    createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const { method = '', url = '' } = request;
      const answer = await fetch(box + url, { method, ...(method === 'PUT' && { body }) });
      response.writeHead(answer.status, { Date: new Date(boxTime).toUTCString() }).end(await answer.text());
    }),
  );
  const args = ['takeover', 'start', 'tag:public', '--title', 'The lift is out!', '--for', '1h30m', '--yes'];
  expect(await signageHere([...args, '--level', 'warning', '--box', proxy], {})).toMatchObject({ code: 0 });
  const [{ url = '', body = {} } = {}] = asked;
  expect(url).toMatch(/^PUT \/console\/api\/takeovers\/the-lift-is-out-[\da-f]{6}$/);
  expect(body).toMatchObject({ targets: ['tag:public'], level: 'warning', title: 'The lift is out!' });
  expect(Math.abs(Date.parse(String(body['until'])) - boxTime - 5_400_000)).toBeLessThan(10_000);
});

test('a takeover ends by the time of the site, where that is another than the clock of the box', async () => {
  const now = Date.now() - 7_200_000;
  let until = Number.NaN;
  const messages = [{ id: 'lift', title: 'Lift', level: 'info', minutes: 30 }];
  const content = {
    ...exampleOf<object>('GET /console/api/content'),
    content: { ...exampleOf<{ content: object }>('GET /console/api/content').content, messages },
  };
  const box = await startStandIn(
    ({ method }, response, body) => {
      if (method === 'PUT') until = Date.parse(JSON.parse(body).until);
      response.end(JSON.stringify(method === 'PUT' ? takeover : content));
    },
    { ...overview, now: new Date(now).toISOString() },
  );
  const takeoverStart = ['takeover', 'start', 'all', '--title', 'Lift', '--for', '30m', '--yes'];
  for (const args of [takeoverStart, ['message', 'start', 'lift', '--yes']]) {
    expect(await signageHere([...args, '--box', box], {})).toMatchObject({ code: 0 });
    expect(Math.abs(until - now - 1_800_000)).toBeLessThan(60_000);
    until = Number.NaN;
  }
});

test('a file that the box of a takeover has not, and no page shows, is named; one that a page shows is not', async () => {
  let looks = Number.POSITIVE_INFINITY;
  const media = exampleOf<MediaList>('GET /console/api/media');
  const box = await startHostileBox(({ method, url }, response) => {
    if (url === '/console/api/media') return response.end(JSON.stringify(media));
    if (method === 'PUT') return response.end(JSON.stringify(takeover));
    looks -= 1;
    response.end(JSON.stringify({ ...overview, takeovers: [{ ...takeover, shown: looks > 0 ? 0 : 1 }] }));
  });
  const start = (file: string, ...more: string[]) =>
    signageHere(['takeover', 'start', 'lobby', '--media', file, '--for', '5m', '--yes', '--box', box, ...more], {});
  expect(await start('hall.jpg')).toMatchObject({ code: 0 });
  expect(await start('hal.jpg', '--from', '2100-01-01')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('Warning: The box has no hal.jpg, and no page shows it. See: signage media list'),
  });
  // One before the start, and two after it.
  looks = 3;
  expect(await start('hal.jpg')).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Warning') });
});

test('where a box of the site did not answer, takeovers and screenshots are done, and the run ends as degraded', async () => {
  const box = await startStandIn(
    ({ method }, response, body) =>
      method === 'PUT'
        ? response.end(JSON.stringify({ ...takeover, ...JSON.parse(body) }))
        : response.writeHead(200, picture).end('picture'),
    { ...overview, degraded: true },
  );
  const start = ['takeover', 'start', 'lobby', '--title', 'Hello', '--for', '5m', '--yes'];
  for (const args of [start, ['screenshot', 'bar']]) {
    const { stdout, stderr, code } = await signage([...args, '--box', box], { cwd: temporaryFolder() });
    expect({ code, isDone: stdout !== '' }).toEqual({ code: 5, isDone: true });
    expect(stderr).toContain('Some box of the site did not answer');
  }
});

test('each display has its picture, and a browser, which has none, is named', async () => {
  const box = await startStandIn(({ url = '' }, response) => {
    if (url.includes('/c2/')) return refuse(response, 409, 'screenshot_unavailable');
    response.writeHead(200, picture).end(`picture of ${url}`);
  });
  const cwd = temporaryFolder();
  const all = await signage(['screenshot', 'all', '--json', '--box', box], { cwd });
  expect(all).toMatchObject({ code: 0, stderr: 'Warning: c2: It is screenshot_unavailable.\n' });
  const capturedAt = '2026-11-22T08:00:00.000Z';
  expect(JSON.parse(all.stdout)).toEqual([
    { screenSlug: 'lobby', connectionId: 'c1', capturedAt, file: 'lobby.jpg' },
    { screenSlug: 'bar', connectionId: 'c3', capturedAt, file: 'bar.jpg' },
  ]);
  expect(readFileSync(join(cwd, 'bar.jpg'), 'utf8')).toBe('picture of /console/api/connections/c3/screenshot');
  const one = await signage(['screenshot', 'lobby', '--connection', 'c2', '--box', box], { cwd });
  expect(one).toMatchObject({ stdout: '', code: 1 });
});

test('each screenshot has a name of its own, and a box that is away costs its own alone', async () => {
  const screens = [screen('lobby', [connection('c1'), connection('c2')]), screen('lobby-2', [connection('c3')])];
  const away = { ...screen('bar', [connection('c4')]) };
  const box = await startStandIn(
    ({ url = '' }, response) => {
      if (url.includes('/c4/')) return refuse(response, 502, 'box_away');
      response.writeHead(200, picture).end(`picture of ${url}`);
    },
    { ...overview, screens: [...screens, away] },
  );
  const cwd = temporaryFolder();
  const all = await signage(['screenshot', 'all', '--box', box], { cwd });
  expect(all).toMatchObject({ code: 5, stdout: 'lobby.jpg\nlobby-3.jpg\nlobby-2.jpg\n' });
  expect(all.stderr).toContain('Warning: c4: It is box_away.\n');
  expect(readFileSync(join(cwd, 'lobby-2.jpg'), 'utf8')).toContain('/c3/');
  const again = await signage(['screenshot', 'lobby', '--box', box], { cwd });
  expect(again).toMatchObject({ code: 2, stderr: 'Error: lobby.jpg is there already: name another with -o.\n' });
  expect((await signage(['screenshot', 'bar', '--box', box], { cwd })).code).toBe(69);
});

test('a screenshot replaces the file of before as a whole, and others may read it', async () => {
  const box = await startStandIn((_, response) => void response.writeHead(200, picture).end('picture'));
  const folder = temporaryFolder();
  const [file, before] = [join(folder, 'hall.jpg'), join(folder, 'before.jpg')];
  writeFileSync(file, 'of yesterday');
  linkSync(file, before);
  expect((await signageHere(['screenshot', 'bar', '-o', file], { SIGNAGE_BOX: box })).code).toBe(0);
  expect([readFileSync(file, 'utf8'), readFileSync(before, 'utf8')]).toEqual(['picture', 'of yesterday']);
  expect(statSync(file).mode & 0o777).toBe(0o666 & ~process.umask());
});

test('a screenshot goes through standard output to the next program, with nothing behind it', async () => {
  const box = await startStandIn((_, response) => void response.writeHead(200, picture).end('picture'));
  const shot = promisify(execFile)('sh', ['-c', `'${program}' screenshot bar -o - --box ${box} | cat`], {
    env: { PATH: process.env.PATH },
  });
  expect(await shot).toEqual({ stdout: 'picture', stderr: '' });
  expect(await signageHere(['screenshot', 'lobby', '-o', '-'], { SIGNAGE_BOX: box })).toEqual({
    stdout: '',
    stderr: 'Error: 2 pages show lobby: name one with --connection.\n',
    code: 2,
  });
});

test('plays are copied as the box writes them, and one that goes away in the middle is told', async () => {
  const csv = `play_id,slide_title\r\n${"1,'=HYPERLINK(0)\r\n".repeat(100_000)}`;
  const asked: string[] = [];
  const box = await startStandIn(({ url = '' }, response) => {
    asked.push(url);
    response.setHeader('Content-Type', 'text/csv; charset=utf-8');
    if (!url.includes('to=')) return void response.end(csv);
    response.write(csv);
    setTimeout(() => response.destroy(), 100);
  });
  const whole = await signage(['plays', 'export', '--from', '2026-11-01', '--box', box]);
  expect(whole).toEqual({ stdout: csv, stderr: '', code: 0 });
  expect(asked).toEqual(['/console/api/plays?format=csv&from=2026-11-01']);
  const cut = await signageHere(['plays', 'export', '--to', '2026-11-22T08:00:00Z', '--box', box], {});
  expect(cut).toMatchObject({ code: 69 });
  expect(cut.stderr).toContain('The export ends too early');
});

test('plays of a site whose boxes did not all answer are written, and the run ends as degraded', async () => {
  const box = await startStandIn((_, response) => {
    response.setHeader('Content-Type', 'text/csv').setHeader('x-signage-degraded', 'true').end('play_id\r\n');
  });
  const { stdout, stderr, code } = await signageHere(['plays', 'export', '--box', box], {});
  expect({ stdout, code }).toEqual({ stdout: 'play_id\r\n', code: 5 });
  expect(stderr).toContain('Some box of the site did not answer');
});

test('a log is followed over a moment in which the box is away, and no line comes twice', async () => {
  const line = (msg: string) => ({ level: 30, time: '2026-11-22T08:00:00.000Z', msg });
  const answers = [['a', 'b', 'b'], null, ['b', 'b', 'c']];
  const box = await startStandIn((_, response) => {
    const lines = answers.shift();
    if (lines === null) refuse(response, 503, 'box_away');
    else response.end(JSON.stringify({ lines: (lines ?? ['b', 'c', 'd']).map(line) }));
  });
  const until = (stdout: string): boolean => stdout.includes('"d"');
  const { stdout } = await signage(['log', 'lobby-box', '--follow', '--json', '--box', box], { until });
  const messages = stdout
    .trimEnd()
    .split('\n')
    .map((each) => (JSON.parse(each) as { msg: string }).msg);
  expect(messages).toEqual(['a', 'b', 'b', 'c', 'd']);
  expect(await signageHere(['log', 'nosuch', '--box', box], {})).toMatchObject({ stdout: '', code: 3 });
});

const health = exampleOf<Health>('GET /healthz');

test('health --all names the box that hangs, after 3 s', async () => {
  const hung = await listenOn(createServer(() => undefined));
  const box = await startStandIn((_, response) => {
    response.end(JSON.stringify({ ...health, peers: [{ ...health.peers[0], url: hung, nodeId: 'n2' }] }));
  });
  const from = performance.now();
  const { stdout, stderr, code } = await signageHere(['health', '--all', '--box', box], {});
  expect(performance.now() - from).toBeLessThan(15_000);
  expect(code).toBe(5);
  expect(stdout).toMatch(new RegExp(`^BOX +STATUS[^\\n]*\\n${box} +ok [^\\n]*\\n${hung} +no answer +- +- +n2\\n$`));
  expect(stderr).toContain(`No answer from ${hung}.`);
});

test('health --all says which boxes it has not asked', async () => {
  const away = 'http://127.0.0.1:1';
  const named = 'http://lobby-box.example:8080';
  const peers = [away, named].map((url) => ({ ...health.peers[0], url, nodeId: url }));
  const SIGNAGE_BOX = await startStandIn((_, response) => void response.end(JSON.stringify({ ...health, peers })));
  const { stdout, stderr, code } = await signageHere(['health', '--all'], { SIGNAGE_BOX });
  expect(stdout).toMatch(new RegExp(`^${named} +not asked `, 'm'));
  const sentences = `No answer from ${away}. Not asked, since a name may lead anywhere: ${named}.`;
  expect([code, stderr]).toEqual([5, `Error: ${sentences}\n`]);
});

test('a command that one screen refuses is sent to the others, and the run names those that it was not sent to', async () => {
  const box = await startStandIn(({ url = '' }, response) => {
    if (url.includes('/lobby/')) return refuse(response, 403, 'out_of_scope');
    response.end(JSON.stringify({ ...exampleOf('POST /api/screens/:slug/commands'), screenSlug: 'bar', sent: 1 }));
  });
  const { stdout, stderr, code } = await signageHere(['send', 'all', 'next', '--box', box], {});
  expect([code, stdout]).toEqual([4, 'SCREEN  SENT\nbar     1\n']);
  expect(stderr).toContain('Error: It is out_of_scope.\nNot sent to: lobby.');
});

test('what nobody gets, and a device that nobody knows, is not found', async () => {
  const asked: string[] = [];
  const box = await startStandIn(({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    response.end(JSON.stringify({ ...exampleOf('POST /api/screens/:slug/commands'), sent: 0 }));
  });
  expect(await signageHere(['send', 'lobby', 'next', '--box', box], {})).toMatchObject({ code: 3 });
  expect(
    await signageHere(['send', 'lobby', 'setclientname', '--name', 'A', '--device', 'd', '--box', box], {}),
  ).toMatchObject({
    code: 0,
  });
  expect(await signageHere(['devices', 'forget', 'd9', '--yes', '--box', box], {})).toMatchObject({ code: 3 });
  expect(asked).toEqual(Array(2).fill('POST /api/screens/lobby/commands'));
});

test('a takeover has a text, a picture and a start; the audit tells the change, and the box narrows it down', async () => {
  let asked: Record<string, unknown> = {};
  const paths: (string | undefined)[] = [];
  const record = (operator: string, at: string, more: object) => ({
    at,
    node_id: 'n1',
    operator,
    address: '10.0.0.9',
    target: 'lobby',
    before: null,
    result: 'ok',
    ...more,
  });
  const records = [
    record('Ada', '2026-02-03T08:00:00.000Z', { action: 'screen.command', after: { command: 'next' } }),
    record('Bo', '2026-02-02T08:00:00.000Z', { action: 'content.publish', after: { sha256: 'abcdef0123456789' } }),
    record('Ada', '2026-02-01T08:00:00.000Z', { action: 'device.bind', after: { screenSlug: 'lobby' } }),
  ];
  const box = await startStandIn(({ method, url }, response, body) => {
    if (method === 'PUT') asked = JSON.parse(body) as Record<string, unknown>;
    else paths.push(url);
    response.end(JSON.stringify(method === 'PUT' ? takeover : { records, degraded: false }));
  });
  const start = ['takeover', 'start', 'all', '--body', 'At the gate', '--media', 'a b.jpg', '--until-ended'];
  await signageHere([...start, '--from', '2026-02-01T18:00:00Z', '--yes', '--box', box], {});
  expect(asked).toEqual({
    targets: ['all'],
    level: 'info',
    body: 'At the gate',
    media_url: '/media/a%20b.jpg',
    from: '2026-02-01T18:00:00.000Z',
    until: '2026-03-04T18:00:00.000Z',
  });

  const { stdout } = await signageHere(['audit', '--box', box], {});
  expect(stdout).toMatch(
    /^WHEN +WHO +ADDRESS +WHAT +TARGET +CHANGE +RESULT\n\S+ [\d:]+[+-]\d\d:\d\d +Ada [^\n]* command=next +ok\n/,
  );
  expect(stdout).toMatch(/Bo [^\n]* abcdef012345 +ok\n/);
  const times = ['--from', '2026-02-02', '--to', '2026-02-04T08:00:00+01:00'];
  const narrowed = await signageHere(['audit', ...times, '--who', 'Ada', '--limit', '1', '--json', '--box', box], {});
  expect(JSON.parse(narrowed.stdout)).toEqual({ records: records.slice(0, 1), degraded: false });
  const query = 'from=2026-02-02&to=2026-02-04T08%3A00%3A00%2B01%3A00&operator=Ada&limit=1';
  expect(paths.filter((path) => path?.startsWith('/console/api/audit'))).toEqual([
    '/console/api/audit',
    `/console/api/audit?${query}`,
  ]);
});

test('plays in a pipe are as the box has them, but for what a spreadsheet takes for a formula', async () => {
  const [text, rest] = ['play_id,slide_title\r\na,"\u202e Sale\x1b[2J"\r\nb,', '=1+1\r\n'];
  const box = await startStandIn((_, response) => response.setHeader('Content-Type', 'text/csv').end(text + rest));
  expect(await signage(['plays', 'export', '--box', box])).toMatchObject({ stdout: `${text}'${rest}`, code: 0 });
});

test.skipIf(!existsSync('/dev/full'))('an output that cannot be written is an error', async () => {
  const box = await startStandIn(() => undefined);
  const child = spawn('bash', ['-c', `${program} screens --box ${box} > /dev/full`]);
  let text = '';
  child.stderr.on('data', (chunk) => {
    text += String(chunk);
  });
  const [code] = await once(child, 'close');
  expect([code, text]).toEqual([1, 'Error: The output cannot be written (ENOSPC).\n']);
});
