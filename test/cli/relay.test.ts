/** A host on the way between the command line, or the console, and a box with a secret: what the operator asked happens once, or not at all. */
import { createHash, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request as requestOf } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../renderer/console/api/client.ts';
import { createBoxClock } from '../../renderer/console/api/clock.ts';
import { limits as defaultLimits, type Limits } from '../../service/cli/client.ts';
import { signedIn } from '../console/signed-in.ts';
import { lobby } from '../content/samples.ts';
import { listenOn } from '../peers/support.ts';
import { hostileHeaders } from '../support/hostile-box.ts';
import { patience } from '../support/observe.ts';
import { createOperator } from '../support/operator.ts';
import { shareTestService, startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';
import { type Ended, secret, signageHere } from './support.ts';

const env = { SIGNAGE_SHARED_SECRET: secret };
let ahead = 0;
let otherAhead = 0;
const box = shareTestService({ content: lobby, env, wall: () => Date.now() + ahead });
const other = shareTestService({ content: lobby, env, wall: () => Date.now() + otherAhead });

interface Passed {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}
interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const pass = (to: TestService, { method, url, headers, body }: Passed): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const sent = requestOf(to.url + url, { method, headers });
    sent.on('error', reject);
    sent.on('response', async (response) => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) });
    });
    sent.end(body);
  });

type Meddle = (passed: Passed) => Promise<Answered | null>;

const passOn: Meddle = (passed) => pass(box(), passed);

/** @returns the address of a host that passes on changes as `meddle` does, and the rest as `read` does; null: it answers nothing */
const startRelay = (meddle: Meddle, read = passOn, methods = ['PUT', 'DELETE']): Promise<string> =>
  listenOn(
    createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const passed = { method, url, headers, body: await buffer(request) };
      const answer = await (methods.includes(method) ? meddle(passed) : read(passed)).catch(() => null);
      if (answer === null) response.destroy();
      else if (answer.headers['x-cut'] !== undefined)
        response.writeHead(200, { 'content-length': '9' }).write('{', () => response.destroy());
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    }),
  );

/** The time at a box, ms since the epoch. */
const nowAt = (at: TestService) => (): number => Date.now() + (at === box() ? ahead : otherAhead);

/** The takeovers that a page would show. */
const takeoversAt = async (at: TestService): Promise<{ id: string; until: string }[]> => {
  const { slides } = await (await at.get('/api/screens/lobby/playlist')).json();
  return slides.flatMap(({ content, schedule_end_datetime: until }: Record<string, never>) =>
    content?.['takeover'] === undefined ? [] : [{ ...(content['takeover'] as object), until }],
  );
};

/** What the operator asked, as far as it happened: who did it, and how long it lasts. */
const happened = async (at: TestService): Promise<[operator: string, minutes: number][]> => {
  const takeovers = await takeoversAt(at);
  const { records } = await (await createOperator(at, secret, nowAt(at))('GET', '/console/api/audit')).json();
  const done = records.filter(
    ({ action, result }: Record<string, string>) => action === 'takeover.start' && result === 'ok',
  );
  return takeovers.map(({ id, until }) => [
    done.find(({ target }: { target: string }) => target === id)?.operator,
    Math.round((Date.parse(until) - nowAt(at)()) / 60_000),
  ]);
};

beforeEach(async () => {
  for (const at of [box(), other()]) {
    const ask = createOperator(at, secret, nowAt(at));
    for (const { id } of await takeoversAt(at)) await ask('DELETE', `/console/api/takeovers/${id}`);
  }
});

const start = ['takeover', 'start', 'lobby', '--title', 'Fire', '--for', '30m', '--yes'];
const run = (relay: string, args: readonly string[] = start, limits: Limits = defaultLimits) =>
  signageHere(args, { SIGNAGE_BOX: relay, SIGNAGE_SHARED_SECRET: secret, SIGNAGE_OPERATOR: 'Jürgen' }, { limits });
const once = [['Jürgen', 30]];

const consoleOf = (relay: string) => {
  const session = signedIn(secret, 'Jürgen');
  const fetchThere = (path: RequestInfo | URL, init?: RequestInit) => fetch(new URL(String(path), relay), init);
  const clock = createBoxClock();
  return { session, client: createClient({ session, clock, fetch: fetchThere, host: new URL(relay).host }) };
};

/** The same in the console. @returns `done`, the name of the error, or that the console asks for the secret */
const runConsole = (relay: string): Promise<string> => {
  const { session, client } = consoleOf(relay);
  const until = new Date(nowAt(box())() + 1_800_000).toISOString();
  const body = { targets: ['lobby'], level: 'info', title: 'Fire', until };
  return new Promise((resolve) => {
    session.isAsking.subscribe((isAsking) => isAsking && resolve('asks for the secret'));
    const changing = client
      .json('/console/api/site')
      .then(() => client.json(`/console/api/takeovers/${randomUUID()}`, { method: 'PUT', body }));
    changing.then(
      () => resolve('done'),
      ({ name }: Error) => resolve(name),
    );
  });
};
const mayHappen = 'The request may still be carried out within 30 s.';

test('a host that passes everything on is of no consequence, whatever its address and its clock', async () => {
  const relay = await startRelay((passed) => pass(box(), passed));
  expect(await run(relay)).toMatchObject({ code: 0 });
  expect(await happened(box())).toEqual(once);
  expect(await runConsole(relay)).toBe('done');
  expect(await happened(box())).toEqual([...once, ...once]);
  const later = new Date(Date.now() + 20 * 86_400_000).toUTCString();
  const dated = await startRelay(async (passed) => {
    const answer = await pass(box(), passed);
    return { ...answer, headers: { ...answer.headers, date: later } };
  });
  expect(await run(dated)).toMatchObject({ code: 0 });
  expect(await happened(box())).toEqual([...once, ...once, ...once]);
});

test.each<[string, (passed: Passed) => Passed]>([
  ...[
    { 'x-signage-operator': 'Eve' },
    { 'x-signage-operator': undefined },
    { 'if-match': '*' },
    { 'if-none-match': '*' },
    { 'x-signage-relay': 'node-2' },
    { 'x-signage-command-id': '0123456789abcdef' },
    { 'x-signage-recipient': undefined },
    { 'x-signage-recipient': 'node-2' },
    { host: '10.0.0.9:8080' },
  ].map((changed): [string, (passed: Passed) => Passed] => [
    `makes the headers ${JSON.stringify(changed)}`,
    ({ headers, ...passed }) => {
      const all = Object.entries({ ...headers, ...changed }).filter(([, value]) => value !== undefined);
      return { ...passed, headers: Object.fromEntries(all) };
    },
  ]),
  ['changes the path', (passed) => ({ ...passed, url: `${passed.url}x` })],
  ['changes the body', (passed) => ({ ...passed, body: Buffer.from(String(passed.body).replace('Fire', 'Five')) })],
])('a host that %s changes nothing, and the operator is not deceived', async (_, change) => {
  const relay = await startRelay((passed) => pass(box(), change(passed)));
  const { code, stderr } = await run(relay);
  expect(code).toBe(4);
  // A body that differs is refused with proof.
  if (stderr.includes('without proof')) expect(stderr).toContain(mayHappen);
  expect(await runConsole(relay)).not.toBe('done');
  expect(await happened(box())).toEqual([]);
});

test('what is sent again with the secret that a host makes the console ask for is carried out once', async () => {
  const sent: Passed[] = [];
  const relay = await startRelay(async (passed) => {
    sent.push(passed);
    if (sent.length > 1) return pass(box(), passed);
    const body = '{"error":{"code":"signature_invalid","message":"No."}}';
    return { status: 401, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) };
  });
  const { session, client } = consoleOf(relay);
  const body = { targets: ['lobby'], level: 'info', title: 'Fire', until: new Date(Date.now() + 60_000).toISOString() };
  const asking = client.json('/console/api/takeovers/fire', { method: 'PUT', body });
  await expect.poll(() => session.isAsking.value, patience).toBe(true);
  session.signIn(secret, 'Jürgen');
  await asking;
  const [held] = sent;
  if (held === undefined) throw new Error('nothing was passed on');
  expect(JSON.parse(String((await pass(box(), held)).body))).toMatchObject({ error: { code: 'signature_replayed' } });
});

test('where a box refuses what is meant for another one, and does not answer then, it may still happen there', async () => {
  let isMisled = true;
  const relay = await listenOn(
    createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const isPlain = headers['x-signage-recipient'] === undefined;
      // It tells the id of the other box, takes what is signed for that one to this one, and is silent from then on.
      const isSilent = isPlain && !isMisled;
      const to = isPlain || headers['x-signage-recipient'] === other().nodeId ? other() : box();
      const answer = await pass(method === 'PUT' ? box() : to, { method, url, headers, body: await buffer(request) });
      if (method === 'PUT') isMisled = false;
      if (isSilent) response.destroy();
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    }),
  );
  const { code, stderr } = await run(relay);
  expect([code, stderr]).toEqual([69, expect.stringContaining(mayHappen)]);
});

test('what a host holds for 30 s, sends twice, or takes to another box is not carried out', async () => {
  let held: Passed | undefined;
  const swallowing = await startRelay(async (passed) => {
    held = passed;
    return null;
  });
  const { code, stderr } = await run(swallowing);
  expect(code).toBe(69);
  expect(stderr).toContain(mayHappen);
  if (held === undefined) throw new Error('nothing was passed on');
  expect((await pass(other(), held)).status).toBe(421);
  ahead = 31_000;
  expect(JSON.parse(String((await pass(box(), held)).body))).toMatchObject({ error: { code: 'signature_stale' } });
  expect(await happened(box())).toEqual([]);
  expect(await happened(other())).toEqual([]);

  // The clock of the box is proven, and the operator signs by it.
  const doubling = await startRelay(async (passed) => {
    const [answer, again] = [await pass(box(), passed), await pass(box(), passed)];
    expect(again.status).toBe(401);
    return answer;
  });
  expect(await run(doubling)).toMatchObject({ code: 0 });
  expect(await happened(box())).toEqual(once);
});

test('a box that has another id by now is asked for it, and gets the request once', async () => {
  const ids = [other().nodeId, box().nodeId];
  const asked: (string | undefined)[] = [];
  const front = await listenOn(
    createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      if (method === 'PUT') asked.push(headers['x-signage-recipient'] as string);
      const answer = await pass(box(), { method, url, headers, body: await buffer(request) });
      const told = (): string => String(answer.body).replaceAll(box().nodeId, ids.shift() ?? '');
      const body = url === '/healthz' ? Buffer.from(told()) : answer.body;
      response.writeHead(answer.status, { ...answer.headers, 'content-length': String(body.length) }).end(body);
    }),
  );
  expect(await run(front)).toMatchObject({ code: 0 });
  expect([ids, asked]).toEqual([[], [box().nodeId]]);
  expect(await happened(box())).toEqual(once);
});

test.each([
  ['28 s', 28_000],
  ['2 minutes', 120_000],
])(
  'an operator whose clock is %s ahead signs nothing that is good later, whatever time a host shows',
  async (_, ms) => {
    const now = (): number => Date.now() - ms;
    const slow = await startTestService({ content: lobby, env, wall: now });
    const signedAt: number[] = [];
    const relay = await startRelay(
      async ({ headers }) => {
        signedAt.push(Number(headers['x-signage-request-timestamp']));
        return null;
      },
      async (passed) => {
        const { headers, ...answer } = await pass(slow, passed);
        return { ...answer, headers: { ...headers, date: new Date().toUTCString() } };
      },
    );
    expect(await run(relay, ['takeover', 'end', 'fire', '--yes'])).toMatchObject({ code: 69 });
    const { client } = consoleOf(relay);
    await expect(client.json('/console/api/takeovers/fire', { method: 'DELETE' })).rejects.toMatchObject({
      mayHappen: true,
    });
    expect(signedAt).toHaveLength(2);
    for (const time of signedAt) expect(Math.abs(time - now())).toBeLessThan(2_000);
  },
);

test('a refusal without proof is no reason to send a request once more', async () => {
  let count = 0;
  const stale = '{"error":{"code":"signature_stale","message":"No."}}';
  for (const [status, body, expected] of [
    [401, stale, 4],
    [429, stale, 1],
    [503, stale, 1],
    [503, '<h1>Service Unavailable</h1>', 1],
  ] as const) {
    const relay = await startRelay(async () => {
      count += 1;
      return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) };
    });
    const { code, stderr } = await run(relay);
    expect(code).toBe(expected);
    if (expected === 1) expect(stderr).toContain('This answer is not proven.');
    expect(stderr).toContain(mayHappen);
  }
  expect(count).toBe(4);
});

test.each<[string, (answer: Answered) => Answered | null, number]>([
  [
    'redirects instead of',
    ({ headers }) => ({ status: 302, headers: { ...headers, location: '/' }, body: Buffer.alloc(0) }),
    69,
  ],
  ['cuts', ({ headers, ...answer }) => ({ ...answer, headers: { ...headers, 'x-cut': '1' } }), 69],
  ['drops', () => null, 69],
  ['changes the body of', (answer) => ({ ...answer, body: Buffer.from('{}'.padEnd(answer.body.length)) }), 4],
  ['changes the status of', (answer) => ({ ...answer, status: 200 }), 4],
  [
    'takes the proof of',
    ({ headers, ...answer }) => ({ ...answer, headers: { ...headers, 'x-signage-answer-signature': undefined } }),
    4,
  ],
  [
    'changes the clock of',
    ({ headers, ...answer }) => ({ ...answer, headers: { ...headers, 'x-signage-clock': '1767225600000' } }),
    4,
  ],
  [
    'makes a refusal of',
    ({ headers }) => ({ status: 503, headers, body: Buffer.from('{"error":{"code":"busy","message":"No."}}') }),
    1,
  ],
])('where a host %s an answer, the operator learns that it may still happen', async (_, change, expected) => {
  const relay = await startRelay(async (passed) => {
    const answer = change(await pass(box(), passed));
    if (answer === null) return null;
    const { 'content-length': __, ...headers } = answer.headers;
    return {
      ...answer,
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
    };
  });
  const { code, stderr } = await run(relay);
  expect(code).toBe(expected);
  expect(stderr).toContain(mayHappen);
  if (expected === 1) expect(stderr).toContain('This answer is not proven.');
  expect(await happened(box())).toEqual(once);
  expect(await runConsole(relay)).toMatch(expected === 1 ? 'Refusal' : /Unproven|Unreachable/);
  expect(await happened(box())).toEqual([...once, ...once]);
});

test('a host that takes a request to a box whose clock is ahead gets none that is good later', async () => {
  otherAhead = 20 * 86_400_000;
  const puts: Passed[] = [];
  const relay = await startRelay((passed) => {
    puts.push(passed);
    return pass(puts.length === 1 ? other() : box(), passed);
  });
  expect(await run(relay)).toMatchObject({ code: 0 });
  const [first, second] = puts.map(({ headers }) => ({
    time: Number(headers['x-signage-request-timestamp']) - nowAt(box())(),
    nonce: /nonce=[^;]+/.exec(String(headers['x-signage-request-signature']))?.[0],
  }));
  expect(second?.time).toBeLessThan(1_000);
  // Only one of them can be carried out.
  expect(second?.nonce).toBe(first?.nonce);
  expect(await happened(box())).toEqual(once);
});

describe('no header that is not proven decides:', () => {
  const change = (headers: IncomingHttpHeaders) => async (passed: Passed) => {
    const answer = await pass(box(), passed);
    return { ...answer, headers: { ...answer.headers, ...headers } };
  };

  test.each(['*', '"abc"'])('with the ETag %s content push replaces what it has shown alone', async (etag) => {
    const ask = createOperator(box(), secret, nowAt(box()));
    const replaced = { ...lobby, screens: lobby.screens.map((screen) => ({ ...screen, name: 'Of somebody else' })) };
    const relay = await startRelay(async (passed) => {
      expect((await ask('PUT', '/console/api/content', replaced, { 'If-Match': '*' })).status).toBe(200);
      return pass(box(), passed);
    }, change({ etag }));
    const file = join(temporaryFolder(), 'content.json');
    writeFileSync(file, JSON.stringify({ ...lobby, screens: [{ ...lobby.screens[0], name: 'Mine' }] }));
    const { code, stderr } = await run(relay, ['content', 'push', file, '--yes']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('changed')]);
    expect(await (await ask('GET', '/console/api/content')).json()).toMatchObject({ content: replaced });
    expect((await ask('PUT', '/console/api/content', lobby, { 'If-Match': '*' })).status).toBe(200);
  });

  test('a file is not skipped because a host says that it is there', async () => {
    const file = join(temporaryFolder(), 'door.txt');
    writeFileSync(file, 'Open');
    const sha256 = createHash('sha256').update('Open').digest('base64');
    const relay = await startRelay(passOn, change({ 'repr-digest': `sha-256=:${sha256}:` }));
    const { code, stdout } = await run(relay, ['media', 'put', file]);
    expect([code, stdout]).toEqual([0, 'uploaded  door.txt\n']);
    expect(await (await box().get('/media/door.txt')).text()).toBe('Open');
  });
});

test('a refusal that a host invents before anything is signed ends with no code of a box', async () => {
  const body = Buffer.from('{"error":{"code":"takeover_not_found","message":"It is over."}}');
  const relay = await startRelay(passOn, async () => ({ status: 404, headers: {}, body }));
  expect(await run(relay, ['takeover', 'end', 'fire', '--yes'])).toMatchObject({ code: 69 });
});

test('what was published is said to be published, even if nothing more is heard of the box', async () => {
  let isDone = false;
  const relay = await startRelay(
    async (passed) => {
      isDone = true;
      return pass(box(), passed);
    },
    async (passed) => (isDone ? null : pass(box(), passed)),
  );
  const file = join(temporaryFolder(), 'content.json');
  writeFileSync(file, JSON.stringify({ ...lobby, screens: [{ ...lobby.screens[0], name: 'Mine' }] }));
  const { code, stdout, stderr } = await run(relay, ['content', 'push', file, '--yes']);
  expect([code, stdout]).toEqual([5, expect.stringMatching(/^[\da-f]{64}\n$/)]);
  expect(stderr).toContain('It is published, but the box does not say whether it stays');
  await createOperator(box(), secret, nowAt(box()))('PUT', '/console/api/content', lobby, { 'If-Match': '*' });
});

type Change = [what: string, name: string, value: string | undefined];
const changesOf = (headers: IncomingHttpHeaders, more: Readonly<Record<string, string>>): Change[] => [
  ...Object.keys(headers).map((name): Change => ['drops', name, undefined]),
  ...Object.keys(headers).map((name): Change => ['changes', name, '1']),
  ...Object.entries(more).map(([name, value]): Change => ['adds', name, value]),
];

const changed = <Message extends { headers: IncomingHttpHeaders }>(
  message: Message,
  [, name, value]: Change,
): Message => {
  const { [name]: _, ...headers } = message.headers;
  return { ...message, headers: value === undefined ? headers : { ...headers, [name]: value } };
};

/** Some changes leave an answer without an end. */
const impatient: Limits = { ...defaultLimits, headMs: 500, silenceMs: 500, answerMs: 500 };

interface Deed {
  action: string;
  /** The exit code where it was done. */
  code: number;
  /** What has to be there, and the arguments of the command. */
  prepare(number: number): Promise<string[]>;
}

const put = async (path: string, body: unknown): Promise<void> => {
  await createOperator(box(), secret, nowAt(box()))('PUT', path, body, { 'If-Match': '*' });
};
const deeds: Record<string, Deed> = {
  // No page shows the screen.
  send: { action: 'screen.command', code: 3, prepare: async () => ['send', 'lobby', 'reload', '--yes'] },
  'content push': {
    action: 'content.publish',
    code: 0,
    prepare: async (number) => {
      const file = join(temporaryFolder(), 'content.json');
      writeFileSync(file, JSON.stringify({ ...lobby, screens: [{ ...lobby.screens[0], name: `Lobby ${number}` }] }));
      return ['content', 'push', file, '--yes'];
    },
  },
  'media put': {
    action: 'medium.upload',
    code: 0,
    prepare: async (number) => {
      const file = join(temporaryFolder(), 'door.txt');
      writeFileSync(file, `Open until ${number}`);
      return ['media', 'put', file];
    },
  },
  'takeover end': {
    action: 'takeover.end',
    code: 0,
    prepare: async () => {
      const until = new Date(nowAt(box())() + 600_000).toISOString();
      await put('/console/api/takeovers/fire', { targets: ['lobby'], level: 'info', title: 'Fire', until });
      return ['takeover', 'end', 'fire', '--yes'];
    },
  },
};

const deedsOf = async (wanted: string): Promise<number> => {
  const { records } = await (await createOperator(box(), secret, nowAt(box()))('GET', '/console/api/audit')).json();
  return records.filter(
    ({ action, operator, result }: Record<string, string>) =>
      action === wanted && operator === 'Jürgen' && result === 'ok',
  ).length;
};

/** What became of what the operator asked: nothing, or it once, and then they know, or know that it may be. */
const checkOutcome = async ({ code, stderr }: Ended, change: Change): Promise<void> => {
  const done = await happened(box());
  const isKnown = code === 0 || stderr.includes(mayHappen);
  expect([change, code, stderr, done]).toEqual([
    change,
    code,
    stderr,
    code === 0 ? once : isKnown ? expect.any(Array) : [],
  ]);
  if (done.length > 0) expect(done).toEqual(once);
  for (const { id } of await takeoversAt(box()))
    await createOperator(box(), secret, nowAt(box()))('DELETE', `/console/api/takeovers/${id}`);
};

type Side = 'a request' | 'an answer';

/**
 * Calls `ask` with a host that changes nothing, then with one change of a header after the other.
 * @param ask `settled` waits for what still is on its way to the box
 */
const withEachHeader = async (
  side: Side,
  ask: (relay: string, change: Change, settled: () => Promise<unknown>) => Promise<void>,
  { methods, isTried = () => true }: { methods?: string[] | undefined; isTried?: (change: Change) => boolean } = {},
): Promise<void> => {
  let seen: IncomingHttpHeaders = {};
  let change: Change = ['drops', 'nothing', undefined];
  const passing = new Set<Promise<Answered>>();
  const meddle: Meddle = async (passed) => {
    const answering = pass(box(), side === 'a request' ? changed(passed, change) : passed);
    passing.add(answering);
    const answer = await answering.finally(() => passing.delete(answering));
    seen = side === 'a request' ? passed.headers : answer.headers;
    return side === 'a request' ? answer : changed(answer, change);
  };
  const relay = await startRelay(meddle, side === 'a request' ? passOn : meddle, methods);
  const settled = (): Promise<unknown> => Promise.allSettled(passing);
  await ask(relay, change, settled);
  const more = side === 'a request' ? hostileHeaders.request : hostileHeaders.answer;
  for (change of changesOf(seen, more).filter(isTried)) await ask(relay, change, settled);
};

test.each<Side>(['a request', 'an answer'])(
  'whatever header of %s a host drops, changes or adds, it happens once or not at all, and the operator knows',
  { timeout: 120_000 },
  (side) =>
    withEachHeader(side, async (relay, change, settled) => {
      const ended = await run(relay, start, impatient);
      await settled();
      await checkOutcome(ended, change);
    }),
);

/** The headers that say who asked for what, where and when; `npm run soak` takes all, and those of requests too. */
const isTold = ([, name]: Change): boolean => isSoak || /^(?:nothing$|host|if-|x-signage-)/.test(name);
const sides: Side[] = isSoak ? ['a request', 'an answer'] : ['an answer'];

describe.each(Object.entries(deeds))('%s', (name, { action, code: done, prepare }) => {
  test.each(sides)(
    'happens once or not at all, whatever header of %s a host drops, changes or adds, and the operator knows',
    { timeout: 300_000 },
    async (side) => {
      let number = 0;
      const ask = async (relay: string, change: Change, settled: () => Promise<unknown>): Promise<void> => {
        number += 1;
        const args = await prepare(number);
        const before = await deedsOf(action);
        const { code, stderr } = await run(relay, args, impatient);
        await settled();
        const count = (await deedsOf(action)) - before;
        if (number === 1) expect([code, stderr]).toEqual([done, expect.any(String)]);
        const isKnown = [mayHappen, 'It is published'].some((sentence) => stderr.includes(sentence));
        const expected = code === done ? 1 : isKnown ? expect.toBeOneOf([0, 1]) : 0;
        expect([change, code, stderr, count]).toEqual([change, code, stderr, expected]);
      };
      await withEachHeader(side, ask, { methods: name === 'send' ? ['POST'] : undefined, isTried: isTold });
    },
  );
});

test.runIf(isSoak).each(sides)(
  'whatever header of %s a host drops, changes or adds, what the console calls done happens once, and all else at most once',
  { timeout: 300_000 },
  (side) =>
    withEachHeader(side, async (relay, change, settled) => {
      const before = await deedsOf('takeover.start');
      const said = await runConsole(relay);
      await settled();
      const count = (await deedsOf('takeover.start')) - before;
      if (change[1] === 'nothing') expect(said).toBe('done');
      expect([change, said, count]).toEqual([change, said, said === 'done' ? 1 : expect.toBeOneOf([0, 1])]);
    }),
);
