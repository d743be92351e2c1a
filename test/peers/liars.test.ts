/** Implausible data of a peer is refused, causes no requests, and is not passed on. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ContentDocument, ContentVersion, DeviceBinding, PeerMedium } from '../../service/contract/peers.ts';
import { editedDocument } from '../../service/domain/document.ts';
import { lobbyWith } from '../content/samples.ts';
import { openLanding } from '../devices/support.ts';
import { logged, patience, payloadOf, titlesOf } from '../support/observe.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { aliveAt, emptyPeerState, listenOn, startBox, startSite } from './support.ts';

const saying = (title: string) => lobbyWith([{ kind: 'text', title }]);
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The false data that the peer sends. */
interface Lies {
  version?: ContentVersion | null;
  content?: ContentDocument | string | ((response: ServerResponse) => void);
  bindings?: DeviceBinding[] | string;
  media?: PeerMedium[] | string | ((response: ServerResponse) => void);
  files?: Record<string, string>;
}

interface Liar {
  url: string;
  nodeId: string;
  /** The requested paths. */
  asked: string[];
  /** Changes the data that it sends, and makes a box request it. */
  tell(box: TestService, lies: Lies): Promise<void>;
}

/** A server that answers as a peer does. */
const startLiar = async (first: Lies = {}): Promise<Liar> => {
  const nodeId = randomUUID();
  const asked: string[] = [];
  let lies = first;
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    asked.push(path);
    const { version = null, content = '', bindings = [], media = [], files = {} } = lies;
    const digest = hashOf(JSON.stringify([media, files]));
    const send = (body: unknown): void => {
      response.setHeader('Content-Type', 'application/json');
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    if (path === '/api/peers/content') return typeof content === 'function' ? content(response) : send(content);
    if (path === '/api/peers/bindings/differing') return send(typeof bindings === 'string' ? bindings : { bindings });
    if (path === '/api/peers/media' && typeof media === 'function') return media(response);
    if (path === '/api/peers/media') return send(typeof media === 'string' ? media : { media, deleted: [], digest });
    if (path === '/api/peers/state') {
      const state = { ...emptyPeerState, nodeId, instance: nodeId, serverTime: Date.now(), content: version };
      return send({ ...state, bindings: hashOf(JSON.stringify(bindings)), media: digest });
    }
    const file = files[decodeURIComponent(path)];
    response.statusCode = file === undefined ? 404 : 200;
    response.end(file);
  });
  const url = await listenOn(server);
  const { port } = new URL(url);
  return {
    url,
    nodeId,
    asked,
    tell: async (box, next) => {
      lies = next;
      await fetch(`${box.url}/api/peers/state?from=${nodeId}&port=${port}&news=1`);
    },
  };
};

const documentOf = (text: string, counter: number, nodeId: string): ContentDocument =>
  editedDocument(null, { counter, nodeId, changedAt: new Date().toISOString(), stamps: [], text });
const versionOf = ({ counter, nodeId, sha256 }: ContentDocument): ContentVersion => ({ counter, nodeId, sha256 });

const refusedBy = async (box: TestService): Promise<string[]> =>
  (await (await box.get('/healthz')).json()).replication.refused.map(({ reason }: { reason: string }) => reason);
const warningsOf = async (box: TestService): Promise<string[]> => (await (await box.get('/healthz')).json()).warnings;
const refusal = 'the content that a peer offers was refused';

describe('content', () => {
  const good = JSON.stringify(saying('a lie'));
  const huge = documentOf(good, Number.MAX_SAFE_INTEGER, 'b');
  const invalid = documentOf('{"screens": [{}]}', 9, 'b');
  const other = documentOf(JSON.stringify(saying('another')), 9, 'b');
  const right = documentOf(good, 9, 'b');
  test.each<[string, Lies, RegExp]>([
    ['of a counter that leaves no room', { version: versionOf(huge), content: huge }, /counts 9007199254740991 edits/],
    ['that is not valid', { version: versionOf(invalid), content: invalid }, /not valid here: screens\[0\]\.name/],
    [
      'that its hash does not fit',
      { version: versionOf(right), content: { ...right, text: good.replace('lie', 'changed lie') } },
      /does not match its hash/,
    ],
    [
      'with times that its hash does not fit',
      { version: versionOf(right), content: { ...right, changedAt: '2020-01-01T00:00:00.000Z' } },
      /does not match its hash/,
    ],
    ['that is garbage', { version: versionOf(right), content: 'garbage' }, /answers what was not asked for/],
    ['that is another shape', { version: versionOf(right), content: '{"text": 7}' }, /answers what was not asked for/],
    [
      'without end',
      {
        version: versionOf(right),
        content: (response) => {
          const chunk = Buffer.alloc(1024 ** 2, ' ');
          const write = (): void => {
            while (!response.destroyed && response.write(chunk));
          };
          response.on('drain', write);
          write();
        },
      },
      /too large a body/,
    ],
  ])('%s is refused once and reported', async (_, lies, reason) => {
    const liar = await startLiar(lies);
    const box = await startBox([liar], { content: saying('ours') });
    await expect.poll(() => refusedBy(box), patience).toEqual([expect.stringMatching(reason)]);
    const warnings = await warningsOf(box);
    expect(warnings).toContainEqual(
      expect.stringMatching(`does not play the newer content .*${liar.url}: .*${reason.source}`),
    );
    const { revision } = await payloadOf(box);
    const asked = liar.asked.filter((path) => path === '/api/peers/content').length;
    // A peer that requests our content does not receive it.
    const state = await (await box.get('/api/peers/state')).json();
    expect(state.content.counter).toBe(1);
    // The same offer is not fetched again; a valid one is accepted.
    await liar.tell(box, lies);
    await liar.tell(box, { version: versionOf(other), content: other });
    await expect.poll(() => titlesOf(box), patience).toEqual(['another']);
    expect(liar.asked.filter((path) => path === '/api/peers/content')).toHaveLength(asked + 1);
    expect(logged(box, refusal)).toHaveLength(1);
    expect(await refusedBy(box)).toEqual([]);
    expect((await warningsOf(box)).join(' ')).not.toContain('newer content');
    expect((await payloadOf(box)).revision).not.toBe(revision);
  });

  test('that is another one each time is fetched twice, then after pauses only', async () => {
    const fetches = (): number => liar.asked.filter((path) => path === '/api/peers/content').length;
    const lieOf = (counter: number): Lies => {
      const { sha256, ...version } = versionOf(documentOf(good, counter, 'b'));
      return { version: { ...version, sha256: hashOf(`${sha256} ${counter}`) }, content: 'garbage' };
    };
    const liar = await startLiar(lieOf(10));
    const box = await startBox([liar], { content: saying('ours') });
    for (let counter = 11; counter < 17; counter++) {
      await expect.poll(() => refusedBy(box), patience).not.toEqual([]);
      const states = liar.asked.filter((path) => path === '/api/peers/state').length;
      await liar.tell(box, lieOf(counter));
      await expect
        .poll(() => liar.asked.filter((path) => path === '/api/peers/state').length, patience)
        .toBeGreaterThan(states);
      await pause(100);
    }
    expect(fetches()).toBe(2);
  });

  test('behind a redirect is not fetched', async () => {
    const elsewhere = (response: ServerResponse) => response.writeHead(302, { Location: '/api/peers/state' }).end();
    const liar = await startLiar({ version: versionOf(right), content: elsewhere });
    const box = await startBox([liar], { content: saying('ours') });
    await expect.poll(() => refusedBy(box), patience).toEqual(['asked for its content it answers 302']);
    expect(await titlesOf(box)).toEqual(['ours']);
  });

  test('of an older version is not requested', async () => {
    const stale = documentOf(good, 0, 'b');
    const liar = await startLiar({ version: versionOf(stale), content: stale });
    const box = await startBox([liar], { content: saying('ours') });
    await expect.poll(() => aliveAt(box), patience).toBe(1);
    expect(liar.asked).not.toContain('/api/peers/content');
    expect(await titlesOf(box)).toEqual(['ours']);
  });

  test('from a peer that hangs does not delay the same content from another peer', async () => {
    const liar = await startLiar({ version: versionOf(right), content: () => undefined });
    const box = await startBox([liar], { content: saying('ours') });
    await expect.poll(() => liar.asked, patience).toContain('/api/peers/content');
    const honest = await startBox([box], { content: saying('honest') });
    // One of the two contents they began with plays on both; else the edit might meet the other one, and lose.
    const isOne = async () => (await titlesOf(box)).join() === (await titlesOf(honest)).join();
    await expect.poll(isOne, patience).toBe(true);
    honest.writeContent(saying('honest, twice'));
    await expect.poll(() => titlesOf(box), patience).toEqual(['honest, twice']);
  });
});

test('a list of media that changes while it is fetched is fetched again', async () => {
  const held: ServerResponse[] = [];
  const liar = await startLiar({ media: (response) => void held.push(response), files: { first: '1' } });
  const box = await startBox([liar], { content: saying('ours') });
  const lists = (): number => liar.asked.filter((path) => path === '/api/peers/media').length;
  await expect.poll(lists, patience).toBe(1);
  const states = (): number => liar.asked.filter((path) => path === '/api/peers/state').length;
  const before = states();
  await liar.tell(box, { files: { first: '1', second: '2' } });
  await expect.poll(states, patience).toBeGreaterThan(before);
  await pause(200);
  held[0]?.setHeader('Content-Type', 'application/json').end('{"media":[]}');
  await expect.poll(lists, patience).toBe(2);
});

test('bindings dated far in the future and invalid lists of bindings are ignored', async () => {
  const poison = { deviceId: 'd1', clientName: 'x', screenSlug: 'lobby', updatedAt: '9999-12-31T23:59:59.999Z' };
  const truth = { ...poison, deviceId: 'd2', updatedAt: '2026-01-01T00:00:00.000Z' };
  const liar = await startLiar({ bindings: [poison, truth] });
  const box = await startBox([liar], { content: saying('ours') });
  const statusOf = async (id: string) => (await box.get(`/api/onboarding/status?deviceId=${id}`)).json();
  await expect.poll(() => statusOf('d2'), patience).toMatchObject({ onboarded: true });
  expect(await statusOf('d1')).toMatchObject({ onboarded: false });
  const reason = expect.stringMatching(/^1 of the bindings are dated years ahead, such as d1 at 9999.*set the clock/);
  expect(await refusedBy(box)).toEqual([reason]);
  expect(logged(box, 'records that a peer offers were refused')).toHaveLength(1);
  await liar.tell(box, { bindings: '{"bindings": "many"}' });
  await expect.poll(() => logged(box, 'a peer returned no bindings').length, patience).toBe(1);
  const answer = await box.post('/api/onboarding', { deviceId: 'd1', clientName: 'Mine', screenSlug: 'lobby' });
  expect(answer.status).toBe(200);
});

test('a medium whose bytes do not match its hash is fetched from another peer', async () => {
  const bytes = 'the right bytes';
  const medium = {
    name: 'notice.txt',
    size: bytes.length,
    sha256: hashOf(bytes),
    modifiedAt: '2026-01-01T00:00:00.000Z',
  };
  const path = '/media/notice.txt';
  const liar = await startLiar({ media: [medium], files: { [path]: 'the wrong bytes' } });
  const box = await startBox([liar], { content: lobbyWith([{ kind: 'image', media_url: path }]) });
  const mediaOf = async () => (await (await box.get('/healthz')).json()).replication.media;
  await expect.poll(mediaOf, patience).toMatchObject({
    named: 1,
    here: 0,
    missing: [{ name: medium.name, reason: expect.stringMatching(/not the expected one/) }],
  });
  expect((await box.get(path)).status).toBe(404);
  await expect
    .poll(() => warningsOf(box), patience)
    .toContainEqual(
      expect.stringMatching(/^A screen needs notice\.txt, which cannot be fetched .*not the expected one/),
    );
  const landing = await openLanding(box);
  expect(await landing.message(({ type }) => type === 'status')).toMatchObject({ media: { here: 0, there: 1 } });
  const honest = await startLiar({ media: [medium], files: { [path]: bytes } });
  await honest.tell(box, { media: [medium], files: { [path]: bytes } });
  await expect.poll(mediaOf, patience).toEqual({ named: 1, here: 1, missing: [] });
  expect(await (await box.get(path)).text()).toBe(bytes);
  await landing.message(({ type, media }) => type === 'status' && media === null);
});

test('a counter that no site has reached is refused by a box without content too, and named in /healthz', async () => {
  const lie = documentOf(JSON.stringify(saying('a lie')), 90_000_000, 'b');
  const truth = documentOf(JSON.stringify(saying('true')), 12, 'a');
  const liar = await startLiar({ version: versionOf(lie), content: lie });
  const honest = await startLiar({ version: versionOf(truth), content: truth });
  // Its demo was never edited.
  const box = await startTestService({ env: { SIGNAGE_PEERS: `${liar.url},${honest.url}` } });
  await expect.poll(() => titlesOf(box), patience).toEqual(['true']);
  await expect
    .poll(() => refusedBy(box), patience)
    .toEqual(['its content counts 90000000 edits, which is not plausible']);
});

test('content that was edited in a year that no clock has reached is refused', async () => {
  const text = JSON.stringify(saying('a lie'));
  const lie = editedDocument(null, {
    counter: 9,
    nodeId: 'b',
    changedAt: '9999-01-01T00:00:00.000Z',
    stamps: [],
    text,
  });
  const liar = await startLiar({ version: versionOf(lie), content: lie });
  const box = await startBox([liar], { content: saying('ours') });
  await expect.poll(() => refusedBy(box), patience).toEqual([expect.stringMatching(/9999.* which is not plausible/)]);
  expect(await titlesOf(box)).toEqual(['ours']);
});

test('content that one box refuses does not reach the next', async () => {
  const [one, other] = await startSite({ content: saying('ours') });
  const huge = documentOf(JSON.stringify(saying('a lie')), 2 ** 52, 'b');
  const liar = await startLiar();
  await liar.tell(one, { version: versionOf(huge), content: huge });
  await expect.poll(() => refusedBy(one), patience).toHaveLength(1);
  one.writeContent(saying('ours, edited'));
  for (const box of [one, other]) await expect.poll(() => titlesOf(box), patience).toEqual(['ours, edited']);
  const state = await (await other.get('/api/peers/state')).json();
  expect(state.content.counter).toBeLessThan(10);
});
