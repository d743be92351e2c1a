/**
 * Boxes of this version beside one that was built before requests between boxes named their recipient: from the history of
 * the repository, and a process of its own.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { startServer } from '../bench/harness/process.ts';
import { lobbyWith } from '../content/samples.ts';
import { patience, titlesOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { aliveAt, peersOf, postTo, secret, startBox } from './support.ts';

const root = join(import.meta.dirname, '..', '..');
const commands = '/api/screens/lobby/commands';
const saying = (title: string) => lobbyWith([{ kind: 'text', title }]);

/** The commit before encrypted bodies; empty where the history is not there. */
const commit = spawnSync('git', ['log', '--diff-filter=A', '--format=%P', '--', 'service/auth/seal.ts'], {
  cwd: root,
  encoding: 'utf8',
}).stdout?.trim();

let built = '';

type OldBox = Pick<TestService, 'url' | 'get' | 'post'> & { writeContent(content: unknown): void };

const startOld = async (env: Record<string, string>): Promise<OldBox> => {
  const dataDir = temporaryFolder();
  const writeContent = (content: unknown): void =>
    writeFileSync(join(dataDir, 'content.json'), JSON.stringify(content));
  writeContent(saying('old'));
  const { url, stop } = await startServer([process.execPath, join(built, 'dist', 'service', 'headless.js')], {
    ...{ SIGNAGE_HOST: '127.0.0.1', SIGNAGE_PORT: '0', SIGNAGE_DATA_DIR: dataDir, SIGNAGE_LOG_LEVEL: 'silent' },
    ...env,
  });
  onTestFinished(stop);
  const get: OldBox['get'] = (path, init) => fetch(url + path, init);
  return {
    ...{ url, get, writeContent },
    post: (path, body, headers) =>
      get(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  };
};

const joinAt = (box: Pick<TestService, 'url'>) => {
  const url = `${box.url}/api/screens/lobby/socket`;
  return joinScreen(box, 'lobby', {}, { headers: signRequest({ secret, method: 'GET', url }) });
};

describe.skipIf(!commit)('beside a box of an older version (needs the history of the repository)', () => {
  beforeAll(() => {
    built = mkdtempSync(join(tmpdir(), 'signage-old-'));
    const source = execFileSync('git', ['archive', String(commit)], { cwd: root, maxBuffer: 256 * 1024 ** 2 });
    mkdirSync(built, { recursive: true });
    execFileSync('tar', ['x'], { cwd: built, input: source });
    symlinkSync(join(root, 'node_modules'), join(built, 'node_modules'));
    execFileSync(process.execPath, ['--import', 'tsx', '.scripts/build.ts', '--force'], { cwd: built });
  }, 120_000);
  afterAll(() => rmSync(built, { recursive: true, force: true }));

  test('without a secret both are peers: commands and content reach each other', async () => {
    const old = await startOld({});
    const box = await startBox([old], { content: saying('new') });
    await expect.poll(() => aliveAt(box), patience).toBe(1);
    await expect.poll(() => aliveAt(old), patience).toBe(1);
    const [oldPage, page] = [await joinAt(old), await joinAt(box)];
    expect(await (await box.post(commands, { command: 'next' })).json()).toMatchObject({ sent: 2, degraded: false });
    expect(await (await old.post(commands, { command: 'previous' })).json()).toMatchObject({
      sent: 2,
      degraded: false,
    });
    for (const each of [oldPage, page]) {
      await each.message(({ command }) => command === 'next');
      await each.message(({ command }) => command === 'previous');
    }
    box.writeContent(saying('from the new one'));
    await expect.poll(() => titlesOf(old), patience).toEqual(['from the new one']);
    old.writeContent(saying('from the old one'));
    await expect.poll(() => titlesOf(box), patience).toEqual(['from the old one']);
  }, 60_000);

  test('with a secret the old one is named in /healthz with what to do, and commands degrade', async () => {
    const env = { SIGNAGE_SHARED_SECRET: secret };
    const box = await startBox([], { content: saying('new'), env });
    const old = await startOld({ ...env, SIGNAGE_PEERS: box.url });
    const named = {
      state: 'away',
      reason: expect.stringContaining('does not know the signatures of this version: update it'),
    };
    await expect.poll(() => peersOf(box), patience).toMatchObject([named]);
    await expect.poll(() => aliveAt(old), patience).toBe(1);
    await joinAt(box);
    expect(await (await postTo(box, commands, { command: 'next' })).json()).toMatchObject({ sent: 1, degraded: true });
    // It signs what it sends to one box as anybody could send it to another one: refused, which its answer says.
    expect(await (await postTo(old, commands, { command: 'next' })).json()).toMatchObject({ sent: 0, degraded: true });
    // The very first version does not name the recipient as this one does, and is heard.
    const ofFirst = { 'x-signage-relay': randomUUID(), 'x-signage-peer': randomUUID() };
    const heard = await postTo(box, commands, { command: 'next' }, ofFirst);
    expect(await heard.json()).toMatchObject({ sent: 1, degraded: false });
  }, 60_000);
});
