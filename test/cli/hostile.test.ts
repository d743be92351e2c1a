/** The command line and a box that answers rubbish: every command, every kind. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Limits } from '../../service/cli/client.ts';
import { columns, fitted, safeJsonText, visible } from '../../service/cli/text.ts';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import { createSafeCsv } from '../../service/domain/spreadsheet.ts';
import { lobby } from '../content/samples.ts';
import { exampleOf, rubbish, startHostileBox } from '../support/hostile-box.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { isSoak, walks } from '../support/soak.ts';
import { secret, signage, signageHere } from './support.ts';

/** For what does not answer, or does not end. */
const short: Limits = {
  connectMs: 1_000,
  headMs: 1_000,
  silenceMs: 1_000,
  answerMs: 1_500,
  answerBytes: 64 * 1024,
  patienceMs: 5_000,
};

const site = exampleOf<SiteOverview>('GET /console/api/site');
const folder = { path: '' };
beforeAll(() => {
  const path = join(process.env['TMPDIR'] ?? '/tmp', `signage-hostile-${process.pid}`);
  mkdirSync(path, { recursive: true });
  folder.path = path;
  writeFileSync(join(path, 'content.json'), JSON.stringify(lobby));
  writeFileSync(join(path, 'a.png'), 'picture');
});

const commands: readonly string[] = [
  'screens',
  'show lobby',
  'send lobby next',
  'send all blackout --on --yes',
  'onboard d1 lobby --name Door',
  'content check FOLDER/content.json',
  'content diff FOLDER/content.json',
  'content push FOLDER/content.json --yes',
  'content pull',
  'content versions',
  'content revert abcd --yes',
  'media list',
  'media put FOLDER/a.png',
  'media delete a.png --yes',
  'screenshot lobby -o FOLDER/shot.jpg',
  'takeover start lobby --title Hello --for 5m --yes',
  'takeover list',
  'takeover end lift --yes',
  'devices list',
  `devices forget ${site.screens[0]?.devices[0]?.deviceId} --yes`,
  'boxes',
  'log lobby-box',
  'box lobby-box identify',
  'plays export',
  'audit',
  'health',
  'health --all',
];
const argsOf = (command: string): string[] => command.replaceAll('FOLDER', folder.path).split(' ');

/** What a command reads first, so that the rubbish comes where it changes something. */
const first = ['GET /console/api/site', 'GET /console/api/content', 'POST /console/api/content/check'] as const;

const done = /^(screens|show|takeover list|devices list|boxes|content (check|diff|pull))\b/;

interface Cell {
  command: string;
  code: number | null;
  stderr: string;
}

/** What comes at once comes at once on a busy machine, too. */
const patient: Limits = { ...short, headMs: 20_000, silenceMs: 20_000, answerMs: 20_000 };
const isSilent = (kind: string): boolean => ['no answer', 'a drip'].includes(kind);

const runAll = (env: NodeJS.ProcessEnv, kind: string): Promise<Cell[]> =>
  Promise.all(
    commands.map(async (command) => {
      const limits = isSilent(kind) ? short : patient;
      const { code, stderr } = await signageHere(argsOf(command), env, { limits });
      return { command, code, stderr };
    }),
  );

const stack = /\n +at |TypeError|RangeError/;

describe.each(Object.entries(rubbish))('%s', (kind, answer) => {
  test('is no answer of a box to any command, at first or later', async () => {
    const always = await startHostileBox(answer);
    const later = await startHostileBox((request, response, body) => {
      const name = first.find((each) => each === `${request.method} ${request.url}`);
      if (name === undefined) answer(request, response, body);
      else response.setHeader('ETag', '"abc"').end(JSON.stringify(exampleOf(name)));
    });
    for (const { command, code, stderr } of await runAll({ SIGNAGE_BOX: always }, kind)) {
      expect([command, code]).toEqual([command, 69]);
      expect(stderr).not.toMatch(stack);
    }
    for (const { command, code, stderr } of await runAll({ SIGNAGE_BOX: later }, kind)) {
      // Some have all that they need by then.
      const isDone = done.test(command) ? expect.toSatisfy((end) => [0, 1, 2, 3].includes(end)) : 69;
      expect([command, code]).toEqual([command, isDone]);
      expect(stderr).not.toMatch(stack);
    }
  });
});

test.each(['an empty object', 'an error that is a list', 'no answer'])(
  'with a secret, %s is not taken by any command',
  async (kind) => {
    const box = await startHostileBox((request, response, body) => {
      const isAsked = request.url === '/healthz' && request.headers['x-signage-request-signature'] === undefined;
      if (isAsked) response.end(JSON.stringify(exampleOf('GET /healthz')));
      else rubbish[kind]?.(request, response, body);
    });
    for (const { command, code, stderr } of await runAll({ SIGNAGE_BOX: box, SIGNAGE_SHARED_SECRET: secret }, kind)) {
      // Plays are streamed, without proof. What does not come is not reached, and the state of a box needs no credentials.
      const isMissing = kind === 'no answer' || (command === 'plays export' && kind === 'an empty object');
      const expected = /^health/.test(command) ? expect.any(Number) : isMissing ? 69 : 4;
      expect([command, code]).toEqual([command, expected]);
      expect(stderr).not.toMatch(stack);
    }
  },
);

test.runIf(isSoak)('a box that drips is given up after a minute', { timeout: 80_000 }, async () => {
  const box = await startHostileBox(rubbish['a drip'] ?? (() => undefined));
  const startedAt = performance.now();
  expect((await signageHere(['screens'], { SIGNAGE_BOX: box })).code).toBe(69);
  expect(performance.now() - startedAt).toBeLessThan(65_000);
});

type Row = [title: string, bodyOf: () => string];

const others: Row[] = [
  ['white space', () => ' '.repeat(30 * 1024 ** 2)],
  ['a text', () => JSON.stringify({ ...site, site: 'x'.repeat(30 * 1024 ** 2) })],
  ['ten million screens', () => JSON.stringify({ ...site, screens: 7 }).replace('7', `[${'{},'.repeat(1e7)}{}]`)],
];

test.each<Row>([
  [
    'half a million screens',
    () => JSON.stringify({ ...site, screens: 7 }).replace('7', `[${'{},'.repeat(499_000)}{}]`),
  ],
  ...walks(...others),
])('30 MB of %s take less than 150 MB', async (_, bodyOf) => {
  const body = bodyOf();
  const box = await startHostileBox((__, response) => void response.end(body));
  // Not `maxRSS`, which a process inherits from the one that started it.
  const peak = "require('fs').readFileSync('/proc/self/status','utf8').match(/VmHWM:\\s*(\\d+)/)[1]";
  const preload = `import{createRequire}from'module';const require=createRequire('/');process.on('exit',()=>console.error(${peak}))`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(preload)}`;
  for (const command of isSoak ? commands : ['screens']) {
    const { code, stderr } = await signage(argsOf(command), { env: { NODE_OPTIONS, SIGNAGE_BOX: box } });
    expect([command, code]).toEqual([command, 69]);
    expect([command, Number(stderr.trimEnd().split('\n').at(-1)) < 150_000]).toEqual([command, true]);
  }
});

test('a site of 10,000 screens is an answer', async () => {
  const screens = Array.from({ length: 10_000 }, () => site.screens[0]);
  const box = await startHostileBox((_, response) => void response.end(JSON.stringify({ ...site, screens })));
  const { code, stdout } = await signageHere(['screens'], { SIGNAGE_BOX: box });
  expect([code, stdout.split('\n').length]).toEqual([0, 10_002]);
});

test('a box of the baseline variant is a box', async () => {
  const { url } = await startTestService({ content: lobby, env: { SIGNAGE_VARIANT: 'baseline' } });
  expect((await signageHere(['health'], { SIGNAGE_BOX: url })).stdout).toContain('status');
  expect((await signageHere(['send', 'lobby', 'next'], { SIGNAGE_BOX: url })).stderr).toContain('Sent to 0 pages');
  expect((await signageHere(['screens'], { SIGNAGE_BOX: url })).code).toBe(1);
});

describe('with --json an error is an answer, too, once:', () => {
  const hub = ['--fleet', 'nats://127.0.0.1:1'];
  test.each<[string[], string, NodeJS.ProcessEnv]>([
    [['screens'], 'unreachable', {}],
    [['screens', '--nosuch'], 'usage', {}],
    [[], 'usage', {}],
    [['media'], 'usage', {}],
    [['help', 'nosuch'], 'usage', {}],
    [['takeover', 'end', 'lift'], 'usage', {}],
    [['content', 'check', '/nosuch'], 'usage', {}],
    [['content', 'check', import.meta.filename], 'refused', {}],
    [['media', 'put', import.meta.filename], 'unreachable', {}],
    [['plays', 'export'], 'unreachable', {}],
    [['screens'], 'configuration', { SIGNAGE_BOX: 'ftp://box' }],
    [['fleet', 'sites'], 'configuration', {}],
    [['fleet', 'sites', ...hub], 'unreachable', {}],
    [['fleet', 'plays', ...hub], 'unreachable', {}],
  ])('signage %j', async (args, code, env) => {
    const box = await startHostileBox((_, response) => void response.end('{}'));
    const { stdout, stderr } = await signageHere([...args, '--json'], { SIGNAGE_BOX: box, ...env });
    const { error } = JSON.parse(stdout);
    expect(error).toEqual({ code, message: expect.not.stringMatching(/^\(|^error/) });
    expect(stderr).toContain(error.message === 'A command is missing' ? 'Usage: signage' : error.message);
  });

  test('what the box refuses is its answer', async () => {
    const body = '{"error":{"code":"screen_not_found","message":"No."}}';
    const box = await startHostileBox((_, response) => void response.writeHead(404).end(body));
    const { stdout } = await signageHere(['send', 'lobby', 'next', '--json'], { SIGNAGE_BOX: box });
    expect(JSON.parse(stdout)).toEqual({ error: { code: 'screen_not_found', message: 'No.' } });
  });

  test('an export that ends too early is not continued by an error', async () => {
    const box = await startHostileBox((_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('[{', () => response.destroy());
    });
    const { stdout, stderr, code } = await signageHere(['plays', 'export', '--json'], { SIGNAGE_BOX: box });
    expect([code, stdout]).toEqual([69, '[{']);
    expect(stderr).toContain('ends too early');
  });

  test('a fault of the program is a sentence and an answer, without a stack', async () => {
    const NODE_OPTIONS = "--import=data:text/javascript,setTimeout(()=>{throw(new(Error)('boom'))},400)";
    const box = await startHostileBox(() => undefined);
    const { stdout, stderr, code } = await signage(['screens', '--json'], {
      env: { NODE_OPTIONS, SIGNAGE_BOX: box },
    });
    const message = 'signage has a fault: boom';
    expect([code, JSON.parse(stdout), stderr]).toEqual([
      70,
      { error: { code: 'internal_error', message } },
      `Error: ${message}\n`,
    ]);
  });
});

test('who waits for a box is told so, and an error has 20 rows at most', async () => {
  const errors = Array.from({ length: 1_000 }, (_, index) => ({
    path: `slides[${index}]`,
    message: 'x'.repeat(5_000),
  }));
  const box = await startHostileBox((_, response) => {
    const body = JSON.stringify({ error: { code: 'invalid_content', message: 'No.', errors } });
    setTimeout(() => response.writeHead(400).end(body), 50);
  });
  const limits = {
    ...short,
    headMs: 5_000,
    silenceMs: 5_000,
    answerMs: 5_000,
    answerBytes: 10_000_000,
    patienceMs: 10,
  };
  const { stderr, code } = await signageHere(['screens'], { SIGNAGE_BOX: box }, { limits });
  expect(code).toBe(1);
  const lines = stderr.trimEnd().split('\n');
  expect(lines[0]).toBe(`The box at ${box} is awaited.`);
  expect(lines).toHaveLength(1 + 1 + 20 + 1 + 1);
  expect(lines).toContain('... and 980 more.');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(1_100);
});

const boxOf = (overview: object, picture = 'picture'): Promise<string> =>
  startHostileBox((request, response) => {
    if (request.url === '/console/api/site') response.end(JSON.stringify(overview));
    else response.writeHead(200, { 'Content-Type': 'image/jpeg' }).end(picture);
  });

test('a picture goes where the operator says, or to a file that is not there yet, and has an end', async () => {
  const [screen] = site.screens;
  const escaping = { ...screen, screen: { ...screen?.screen, slug: '../../precious' } };
  const outside = await signageHere(['screenshot', 'all'], {
    SIGNAGE_BOX: await boxOf({ ...site, screens: [escaping] }),
  });
  expect(outside.code).toBe(69);
  const cwd = process.cwd();
  const here = temporaryFolder();
  writeFileSync(join(here, 'lobby.jpg'), 'precious');
  process.chdir(here);
  try {
    const env = { SIGNAGE_BOX: await boxOf(site) };
    const kept = await signageHere(['screenshot', 'lobby'], env);
    expect([kept.code, readFileSync('lobby.jpg', 'utf8')]).toEqual([2, 'precious']);
    expect((await signageHere(['screenshot', 'lobby', '-o', 'lobby.jpg'], env)).code).toBe(0);
    expect(readFileSync('lobby.jpg', 'utf8')).toBe('picture');
    const large = await signageHere(['screenshot', 'lobby', '-o', 'b.jpg'], {
      SIGNAGE_BOX: await boxOf(site, 'x'.repeat(5 * 1024 ** 2 + 1)),
    });
    expect(large.code).toBe(69);
  } finally {
    process.chdir(cwd);
  }
});

test('what is pulled into a file is for its owner, and a terminal may show it', async () => {
  const hostile = '\x9b31m\u202ednuor';
  const content = {
    ...exampleOf<{ content: object }>('GET /console/api/content'),
    content: { ...lobby, note: hostile },
  };
  const box = await startHostileBox((_, response) => void response.end(JSON.stringify(content)));
  const file = join(temporaryFolder(), 'content.json');
  const { code, stderr } = await signageHere(['content', 'pull', file], { SIGNAGE_BOX: box });
  expect([code, stderr]).toEqual([0, expect.stringContaining('is version')]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, 'utf8');
  expect(text).not.toContain(hostile);
  expect(JSON.parse(text)).toMatchObject({ note: hostile });
});

test.each([
  ['a,=1\r\n', "a,'=1\r\n"],
  ['"=1",-2\r\n+3', "\"'=1\",'-2\r\n'+3"],
  ['"a ""=b"" c",@d', '"a ""=b"" c",\'@d'],
  ["'=1", "'=1"],
  ['\x1b[2J,"x\x9b"', '\'\\x1b[2J,"x\\x9b"'],
  ['"line\r\n=end"', '"line\r\n\'=end"'],
  ['"a, -20 %",b', '"a, -20 %",b'],
  [';=1,＝1,\u200b=1,a;\u3000=1', ";'=1,'＝1,\u200b'=1,a;\u3000'=1"],
])('the CSV %j is written as %j, however it is cut', (given, expected) => {
  expect(createSafeCsv(visible)(given)).toBe(expected);
  const safe = createSafeCsv(visible);
  expect(Array.from(given, safe).join('')).toBe(expected);
});

test('a cell has 200 columns at most, and JSON keeps its values', () => {
  expect(fitted('x'.repeat(1_000_000), 200)).toBe(`${'x'.repeat(199)}…`);
  expect(fitted('会'.repeat(200), 200)).toBe(`${'会'.repeat(99)}…`);
  expect(fitted(`a${'\u0301'.repeat(100_000)}`, 200).length).toBeLessThan(1_000);
  expect(
    columns([
      ['x'.repeat(1_000_000), 'b'],
      ['a', 'b'],
    ])[1],
  ).toHaveLength(203);
  expect(JSON.parse(safeJsonText('["\x9b\u202e"]'))).toEqual(['\x9b\u202e']);
});

test('a document that comes late through a pipe is read', async () => {
  const { url } = await startTestService({ content: lobby });
  const stdin = Readable.from(
    (async function* () {
      await new Promise((resolve) => setTimeout(resolve, 100));
      yield JSON.stringify(lobby);
    })(),
  );
  const { stderr, code } = await signageHere(['content', 'check', '-'], { SIGNAGE_BOX: url }, { stdin });
  expect([code, stderr]).toEqual([0, expect.stringContaining('standard input can be published')]);
});

test('health --all asks other boxes without a signature, and only addresses', async () => {
  const asked: [string | undefined, string | undefined][] = [];
  const stranger = await startHostileBox((request, response) => {
    const { url, headers } = request;
    if (url === '/healthz') asked.push([headers.host, headers['x-signage-request-signature'] as string | undefined]);
    response.end(JSON.stringify(exampleOf('GET /healthz')));
  });
  const byName = stranger.replace('127.0.0.1', 'localhost');
  const env = { SIGNAGE_SHARED_SECRET: secret, SIGNAGE_PEERS: `${stranger},${byName}` };
  const { url } = await startTestService({ content: lobby, env });
  const { stdout } = await signageHere(['health', '--all'], { SIGNAGE_BOX: url, SIGNAGE_SHARED_SECRET: secret });
  expect(asked).toEqual([[new URL(stranger).host, undefined]]);
  expect(stdout).toMatch(new RegExp(`${byName} +not asked`));
});
