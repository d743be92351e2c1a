/** A host on the way between the command line, or the console, and a box with a secret: what the operator asked happens once, or not at all. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, request as requestOf } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { beforeEach, expect, test } from 'vitest';
import { createClient } from '../../renderer/console/api/client.ts';
import { createBoxClock } from '../../renderer/console/api/clock.ts';
import { signedIn } from '../console/signed-in.ts';
import { lobby } from '../content/samples.ts';
import { listenOn } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { createOperator } from '../support/operator.ts';
import { shareTestService, startTestService, type TestService } from '../support/service.ts';
import { secret, signageHere } from './support.ts';

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

/** @returns the address of a host that passes on changes as `meddle` does; null: it answers nothing */
const startRelay = (meddle: (passed: Passed) => Promise<Answered | null>): Promise<string> =>
  listenOn(
    createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const passed = { method, url, headers, body: await buffer(request) };
      const answer = await (method === 'PUT' ? meddle(passed) : pass(box(), passed));
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
const run = (relay: string) =>
  signageHere(start, { SIGNAGE_BOX: relay, SIGNAGE_SHARED_SECRET: secret, SIGNAGE_OPERATOR: 'Jürgen' });
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

test('an operator whose clock is ahead signs nothing that is good later', async () => {
  const now = (): number => Date.now() - 120_000;
  const slow = await startTestService({ content: lobby, env, wall: now });
  let signedAt = Number.NaN;
  const relay = await listenOn(
    createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const answer = await pass(slow, { method, url, headers, body: await buffer(request) });
      if (method === 'DELETE') signedAt = Number(headers['x-signage-request-timestamp']);
      if (method === 'DELETE') response.destroy();
      else
        response.writeHead(answer.status, { ...answer.headers, date: new Date(now()).toUTCString() }).end(answer.body);
    }),
  );
  const surroundings = { SIGNAGE_BOX: relay, SIGNAGE_SHARED_SECRET: secret };
  expect(await signageHere(['takeover', 'end', 'fire', '--yes'], surroundings)).toMatchObject({ code: 69 });
  expect(Math.abs(signedAt - now())).toBeLessThan(1_000);
});

test('a refusal without proof is no reason to send a request once more', async () => {
  let count = 0;
  const body = '{"error":{"code":"signature_stale","message":"No."}}';
  for (const status of [401, 503]) {
    const relay = await startRelay(async () => {
      count += 1;
      return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) };
    });
    const { code, stderr } = await run(relay);
    expect(code).toBe(4);
    expect(stderr).toContain(mayHappen);
  }
  expect(count).toBe(2);
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
