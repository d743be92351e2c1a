/** A copied disk: two boxes start with one node id, and soon have one each. */
import { randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takesNewId } from '../../service/peers/gossip.ts';
import { logged, patience } from '../support/observe.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { walks } from '../support/soak.ts';
import {
  aliveAt,
  emptyPeerState,
  joinLobby,
  listenOn,
  peersOf,
  postTo,
  startBox,
  withAndWithoutSecret,
} from './support.ts';

test.each([
  ['the one that started later', { startedAt: 2, instance: 'a' }, { startedAt: 1, instance: 'b' }, true],
  ['not the one that started before', { startedAt: 1, instance: 'b' }, { startedAt: 2, instance: 'a' }, false],
  ['of two at once the greater instance', { startedAt: 1, instance: 'b' }, { startedAt: 1, instance: 'a' }, true],
  ['of two at once not the smaller one', { startedAt: 1, instance: 'a' }, { startedAt: 1, instance: 'b' }, false],
])('%s takes a new id', (_, own, other, expected) => {
  expect(takesNewId(own, other)).toBe(expected);
});

describe.each(withAndWithoutSecret)('%s', (_, env) => {
  const healthOf = async (box: TestService) => (await box.get('/healthz')).json();

  test.each('SIGNAGE_SHARED_SECRET' in env ? ['the copy'] : ['the original', 'a third box', ...walks('the copy')])(
    'a copy heals itself, where %s learns of the other',
    async (who) => {
      const original = await startBox([], { env });
      const binding = { deviceId: 'device-1', clientName: 'Front desk', screenSlug: 'lobby' };
      expect((await postTo(original, '/api/onboarding', binding)).status).toBe(200);
      const { nodeId: id } = await healthOf(original);
      const dataDir = temporaryFolder();
      copyFileSync(join(original.dataDir, 'state.json'), join(dataDir, 'state.json'));
      const third = who === 'a third box' ? await startBox([original], { env }) : undefined;
      const copy = await startBox(who === 'the copy' ? [original] : third === undefined ? [] : [third], {
        dataDir,
        env,
      });
      if (who === 'the original') {
        const port = new URL(original.url).port;
        await original.close();
        // It is the later one now.
        const later = await startBox([copy], { dataDir: original.dataDir, env: { ...env, SIGNAGE_PORT: port } });
        await expect.poll(async () => (await healthOf(later)).nodeId, patience).not.toBe(id);
        expect((await healthOf(copy)).nodeId).toBe(id);
        return;
      }
      const nodeId = async () => (await healthOf(copy)).nodeId;
      await expect.poll(nodeId, patience).not.toBe(id);
      const { warnings } = await healthOf(copy);
      expect(warnings).toContainEqual(expect.stringMatching(/had the same node id.*has taken a new one/));
      expect(copy.log()).toContain('has taken a new one');
      expect((await healthOf(original)).nodeId).toBe(id);
      const status = await copy.get('/api/onboarding/status?deviceId=device-1');
      expect(await status.json()).toMatchObject({ clientName: 'Front desk', screenSlug: 'lobby' });
      await expect.poll(() => aliveAt(copy), patience).toBe(third === undefined ? 1 : 2);
      await expect.poll(() => aliveAt(original), patience).toBe(third === undefined ? 1 : 2);
      const known = await nodeId();
      await copy.close();
      const again = await startBox([], { dataDir, env });
      expect((await healthOf(again)).nodeId).toBe(known);
      expect((await peersOf(again)).map((peer) => peer.nodeId)).not.toContain(known);
    },
  );
});

describe('a host that takes the id of a box, where there is no secret', () => {
  const warningsOf = async (box: TestService): Promise<string[]> => (await (await box.get('/healthz')).json()).warnings;

  /** A box that starts again while a host has its id at another one. @param isHidden whether the host shows it to that one alone */
  const takeOver = async (startedAt: number, moment: 'before' | 'after', isHidden: boolean) => {
    const first = await startBox([]);
    const { nodeId, dataDir } = first;
    const third = await startBox([first]);
    await expect.poll(() => aliveAt(third), patience).toBe(1);
    const host = await listenOn(
      createServer((request, response) => {
        const isShown = !isHidden || request.url?.includes(third.nodeId) === true;
        const state = { ...emptyPeerState, nodeId: isShown ? nodeId : randomUUID(), startedAt };
        response.setHeader('Content-Type', 'application/json').end(JSON.stringify(state));
      }),
    );
    const contact = `/api/peers/state?from=${nodeId}&port=${new URL(host).port}&instance=another&news=1`;
    const SIGNAGE_PORT = new URL(first.url).port;
    await first.close();
    const urlThere = async () =>
      (await peersOf(third)).find((peer) => peer.nodeId === nodeId && peer.state === 'alive')?.url;
    if (moment === 'before') {
      await third.get(contact);
      await expect.poll(urlThere, patience).toBe(host);
    }
    const box = await startBox([third], { dataDir, env: { SIGNAGE_PORT } });
    if (moment === 'after') {
      await expect.poll(urlThere, patience).toBe(box.url);
      await third.get(contact);
    }
    return { nodeId, third, host, box };
  };

  test('from a box that starts later has it take a new one, which says so', async () => {
    const { nodeId, host, box } = await takeOver(0, 'before', false);
    const healthOf = async () => (await box.get('/healthz')).json();
    await expect.poll(async () => (await healthOf()).nodeId, patience).not.toBe(nodeId);
    expect(await warningsOf(box)).toContainEqual(expect.stringContaining(`The box at ${host} had the same node id`));
  });

  test.each([
    ['before it is back', 'before', false],
    ['before it is back, hidden from it', 'before', true],
    ['once it is back, hidden from it', 'after', true],
  ] as const)('%s is named, and commands go to the box', async (_, moment, isHidden) => {
    const { nodeId, third, host, box } = await takeOver(Date.now() + 3_600_000, moment, isHidden);
    const same = `The box at ${host} has the same node id as`;
    const remedy = 'remove state.json and state.json.prev from one of them';
    await expect.poll(() => warningsOf(third), patience).toContainEqual(expect.stringContaining(`${same} the box at`));
    expect(logged(third, 'two boxes have one node id')).not.toEqual([]);
    if (!isHidden) {
      await expect
        .poll(() => warningsOf(box), patience)
        .toContainEqual(expect.stringContaining(`${same} this one: ${remedy}`));
    }
    expect((await (await box.get('/healthz')).json()).nodeId).toBe(nodeId);
    const page = await joinLobby(box);
    expect(await (await third.post('/api/screens/lobby/commands', { command: 'next' })).json()).toMatchObject({
      sent: 1,
    });
    await page.message(({ command }) => command === 'next');
  });
});
