/** The npm package of the client, as a developer uses it: packed, installed, typed, in a browser, and every operation called through it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { buildClient } from '../../.scripts/client.ts';
import { everyKind } from '../content/samples.ts';
import { listenOn } from '../peers/support.ts';
import { itBrowser, launchBrowser } from '../support/browser.ts';
import { patience } from '../support/observe.ts';
import { answerCheckOf } from '../support/openapi.ts';
import { operatorSecret as secret, secretSettings } from '../support/operator.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

type Result = { data?: Record<string, unknown>; error?: { error: { code: string } }; response: Response };

interface Operation {
  operationId: string;
  parameters?: { name: string; in: 'path' | 'query' | 'header'; example?: string }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

interface Package {
  connectBox(options: object): object;
  openSocket(options: object): Promise<{ send(message: object): void; close(): void }>;
  getConsoleApiSite(options: object): Promise<Result>;
  putConsoleApiTakeoversId(options: object): Promise<Result>;
  postApiScreensSlugCommands(options: object): Promise<Result>;
}

const root = join(import.meta.dirname, '..', '..');
const ends: (() => void | Promise<void>)[] = [];
let folder: string;
let client: Package;
beforeAll(async () => {
  folder = temporaryFolder((end) => ends.push(end));
  await buildClient(join(folder, 'client'));
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: join(folder, 'client'),
    encoding: 'utf8',
  });
  const [{ filename, files } = { filename: '', files: [] }] = JSON.parse(packed) as {
    filename: string;
    files: { path: string }[];
  }[];
  expect(files.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['index.js', 'package.json', 'README.md', 'types/index.d.ts']),
  );
  const installed = join(folder, 'node_modules', 'signage-player-client');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['xzf', join(folder, filename), '--strip-components=1', '-C', installed]);
  client = (await import(pathToFileURL(join(installed, 'index.js')).href)) as Package;
}, 120_000);
afterAll(async () => {
  for (const end of ends) await end();
});

const content = {
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [{ id: 'main', slides: [{ id: 'hello', kind: 'text', title: 'Hello' }] }],
};

test('it has no dependencies, and its types are those of the operations', () => {
  const description = JSON.parse(readFileSync(join(folder, 'client', 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(description['dependencies']).toBeUndefined();
  expect(readFileSync(join(folder, 'client', 'index.js'), 'utf8')).not.toMatch(/^import |require\(|from "node:/m);
  expect(statSync(join(folder, 'client', 'index.js')).size).toBeLessThan(300_000);
  const use = `import { connectBox, getConsoleApiSite, putConsoleApiTakeoversId } from 'signage-player-client';
const client = connectBox({ url: 'http://box', secret: 'a secret' });
const { data } = await getConsoleApiSite({ client });
export const names: string[] | undefined = data?.screens.map(({ screen }) => screen.name);
await putConsoleApiTakeoversId({ client, path: { id: 'lift' }, body: { targets: ['all'], level: 'info', title: 'A', until: '2100-01-01T00:00:00Z' } });
// @ts-expect-error there is no such level
await putConsoleApiTakeoversId({ client, path: { id: 'lift' }, body: { targets: ['all'], level: 'huge', title: 'A', until: null } });
`;
  writeFileSync(join(folder, 'use.mts'), use);
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'false',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--target',
    'es2023',
    '--types',
    '',
  ];
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, ...options, 'use.mts'], { cwd: folder, stdio: 'pipe' });
});

test('it operates a box with a secret, and takes no answer that is not proven', async () => {
  const service = await startTestService({ content, env: secretSettings(secret) });
  const box = client.connectBox({ url: service.url, secret, operator: 'Zoë' });
  const { data } = await client.getConsoleApiSite({ client: box });
  expect(data).toMatchObject({ nodeId: service.nodeId });
  const takeover = {
    targets: ['all'],
    level: 'info',
    title: 'Lunch',
    until: new Date(Date.now() + 60_000).toISOString(),
  };
  expect(
    (await client.putConsoleApiTakeoversId({ client: box, path: { id: 'lunch' }, body: takeover })).response.status,
  ).toBe(201);
  const refused = await client.putConsoleApiTakeoversId({
    client: box,
    path: { id: 'lunch' },
    body: { ...takeover, until: null },
  });
  expect([refused.response.status, refused.error?.error.code]).toEqual([400, 'invalid_field']);

  // A clock that is an hour behind: the refusal is proven, and tells the time.
  const late = client.connectBox({ url: service.url, secret, now: () => Date.now() - 3_600_000 });
  expect((await client.getConsoleApiSite({ client: late })).response.status).toBe(200);
  const wrong = client.connectBox({ url: service.url, secret: 'not the secret of the site' });
  await expect(client.getConsoleApiSite({ client: wrong, throwOnError: true })).rejects.toMatchObject({
    name: 'UnprovenError',
  });
  const impostor = await listenOn(
    createServer((_, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ nodeId: service.nodeId, screens: [] }));
    }),
  );
  const misled = client.connectBox({ url: impostor, secret });
  await expect(client.getConsoleApiSite({ client: misled, throwOnError: true })).rejects.toMatchObject({
    name: 'UnprovenError',
  });
});

test('its socket is a page of a screen', async () => {
  Object.assign(globalThis, { WebSocket: globalThis.WebSocket ?? WebSocket });
  const service = await startTestService({ content, env: secretSettings(secret) });
  const box = client.connectBox({ url: service.url, secret });
  const told: { type: string; command?: string }[] = [];
  const page = {
    url: service.url,
    screen: 'lobby',
    clientId: 'client-1',
    onMessage: (message: { type: string }) => told.push(message),
  };
  const socket = await client.openSocket(page);
  socket.send({
    type: 'state',
    page: '/screen/lobby',
    viewport: null,
    currentSlide: 0,
    currentSlideId: 'hello',
    currentSlideTitle: 'Hello',
    paused: false,
    blackout: false,
  });
  const sent = await client.postApiScreensSlugCommands({
    client: box,
    path: { slug: 'lobby' },
    body: { command: 'reload' },
  });
  expect(sent.data).toMatchObject({ sent: 1 });
  await expect.poll(() => told.map(({ type }) => type), patience).toContain('command');
  socket.close();
});

itBrowser('it runs in a browser, over plain http', async () => {
  const service = await startTestService({ content, env: secretSettings(secret) });
  const context = await (await launchBrowser()).newContext();
  try {
    const page = await context.newPage();
    const code = readFileSync(join(folder, 'client', 'index.js'), 'utf8');
    await page.route('**/client.js', (route) => route.fulfill({ contentType: 'text/javascript', body: code }));
    await page.goto(`${service.url}/onboard`);
    // As text: the test runner would rewrite the import.
    const nodeId = await page.evaluate(`(async () => {
      const { connectBox, getConsoleApiSite } = await import('/client.js');
      const client = connectBox({ url: location.origin, secret: ${JSON.stringify(secret)} });
      return (await getConsoleApiSite({ client })).data?.nodeId;
    })()`);
    expect(nodeId).toBe(service.nodeId);
  } finally {
    await context.close();
  }
});

/** What a new box has nothing of: copies of remote media, releases, streams, scripts, boxes, displays. */
const absent = /TriggersToken|Copies|Renditions|Updates|RtmpStreams|AssetsPath|ConsoleApi|PeersRestart|PeersScreenshot/;

test('it calls every operation', { timeout: 60_000 }, async () => {
  const screens = [{ name: 'Lobby', slug: 'lobby', playlist_id: 'welcome' }];
  const service = await startTestService({ content: { ...everyKind, screens } });
  await service.get('/api/media/hall.jpg', { method: 'PUT', body: 'a picture' });

  const { paths } = parse(readFileSync(join(root, 'resources', 'openapi.yaml'), 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const operations = Object.values(paths).flatMap((each) => Object.entries(each));
  const sdk = client as unknown as Record<string, (options: object) => Promise<Result>>;
  const own = ['connectBox', 'openSocket', 'UnprovenError'];
  const functions = new Map(
    Object.keys(sdk)
      .filter((name) => !own.includes(name))
      .map((name) => [name.toLowerCase(), name]),
  );
  expect(functions.size).toBe(operations.length);

  // What deletes comes late, and what gives a file another name last.
  const turn = ([method, { operationId }]: (typeof operations)[number]): number =>
    Number(method === 'delete') + 2 * Number(operationId.endsWith('Rename'));
  const ordered = operations.toSorted((one, other) => turn(one) - turn(other));
  for (const [method, { operationId, parameters = [], requestBody }] of ordered) {
    const valuesOf = (place: string) =>
      Object.fromEntries(
        parameters
          .filter((each) => each.in === place && (place !== 'header' || each.example !== undefined))
          .map(({ name, example }) => [name, example]),
      );
    const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    const call = sdk[functions.get(operationId.toLowerCase()) ?? ''];
    const result = await call?.({
      baseUrl: service.url,
      path: valuesOf('path'),
      query: valuesOf('query'),
      ...(type && { body: media?.example ?? new Blob(['some bytes']) }),
      headers: { ...valuesOf('header'), ...(type && { 'Content-Type': type }) },
      fetch: async (request: Request) => {
        const response = await fetch(request, { redirect: 'manual' });
        const { pathname, search } = new URL(request.url);
        await answerCheckOf('extended')(method.toUpperCase(), pathname + search, response);
        return response;
      },
    });
    if (result?.response === undefined) throw result?.error;
    const { status } = result.response;
    const expected = absent.test(operationId) ? [200, 201, 204, 302, 404, 409] : [200, 201, 204];
    // Without a secret a box is backed up, restored and protected by itself alone.
    if (/Backup|Restore|Actions|Protect/.test(operationId)) expected.push(403);
    if (operationId === 'postConsoleApiTriggers') expected.push(400);
    if (/DraftsIdPublish/.test(operationId)) expected.push(428);
    if (/Trust|ApiCa/.test(operationId)) expected.push(404);
    expect(expected, `${operationId} answers ${status}`).toContain(status);
  }
});
