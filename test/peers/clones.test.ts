/** A copied disk: two boxes start with one node id, and soon have one each. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takesNewId } from '../../service/peers/own-state.ts';
import { patience } from '../support/observe.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { aliveAt, peersOf, postTo, startBox, withAndWithoutSecret } from './support.ts';

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

  test.each('SIGNAGE_SHARED_SECRET' in env ? ['the copy'] : ['the copy', 'the original', 'a third box'])(
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
