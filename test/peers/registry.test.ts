/** Which boxes count as peers, seen over HTTP. */
import { expect, test } from 'vitest';
import { patience } from '../support/observe.ts';
import type { TestService } from '../support/service.ts';
import { aliveAt, peersOf, postTo, secret, startBox, startSite, untilTogether } from './support.ts';

test('two boxes become peers if one of them is configured with the other', async () => {
  const [one, other] = await startSite();
  const nodeIdOf = async (box: TestService) => (await (await box.get('/healthz')).json()).nodeId;
  expect(await peersOf(one)).toMatchObject([{ nodeId: await nodeIdOf(other), url: other.url, reason: null }]);
  expect(await peersOf(other)).toMatchObject([{ nodeId: await nodeIdOf(one), url: one.url, state: 'alive' }]);
});

test('two boxes with the same secret become peers', async () => {
  const [one] = await startSite({ env: { SIGNAGE_SHARED_SECRET: secret } });
  expect((await one.get('/api/peers/state')).status).toBe(401);
});

test('a box with another secret is not a peer', async () => {
  const one = await startBox([], { env: { SIGNAGE_SHARED_SECRET: secret } });
  const other = await startBox([one], { env: { SIGNAGE_SHARED_SECRET: `not ${secret}` } });
  await expect
    .poll(() => peersOf(other), patience)
    .toMatchObject([{ state: 'away', reason: 'answers 401 signature_invalid (it has another secret)' }]);
  expect(await aliveAt(one)).toBe(0);
});

test('a box of another site is not a peer, and does not degrade answers', async () => {
  const one = await startBox([]);
  const other = await startBox([one], { env: { SIGNAGE_SITE: 'elsewhere' } });
  await expect.poll(() => other.log(), patience).toContain('is of site');
  expect([await peersOf(one), await peersOf(other)]).toEqual([[], []]);
  expect(await (await other.get('/healthz')).json()).toMatchObject({
    status: 'ok',
    warnings: [expect.stringMatching(`The box at ${one.url} is no peer: .* Set SIGNAGE_SITE alike on both`)],
  });
});

test('a secret is rotated without a gap: every box first accepts the new secret, then signs with it', async () => {
  const next = `the next of ${secret}`;
  const before = await startBox([], { env: { SIGNAGE_SHARED_SECRET: secret, SIGNAGE_SHARED_SECRET_PREVIOUS: next } });
  const after = await startBox([before], {
    env: { SIGNAGE_SHARED_SECRET: next, SIGNAGE_SHARED_SECRET_PREVIOUS: secret },
  });
  await untilTogether([before, after]);
  const answer = await postTo(before, '/api/screens/lobby/commands', { command: 'next' });
  expect(await answer.json()).toMatchObject({ degraded: false });
});

test('the baseline has no peers, and both it and the box that is configured with it say what to do', async () => {
  const one = await startBox([]);
  const other = await startBox([one], { env: { SIGNAGE_VARIANT: 'baseline' } });
  expect(await (await other.get('/healthz')).json()).toMatchObject({
    warnings: [expect.stringContaining('SIGNAGE_PEERS has no effect')],
  });
  const third = await startBox([other]);
  await expect
    .poll(() => peersOf(third), patience)
    .toMatchObject([
      { url: other.url, state: 'away', reason: expect.stringContaining('its SIGNAGE_VARIANT is baseline') },
    ]);
  expect((await other.get('/api/peers/state')).status).toBe(404);
  expect(await peersOf(other)).toEqual([]);
  const answer = await other.post('/api/screens/lobby/commands', { command: 'next' });
  expect(await answer.json()).not.toHaveProperty('degraded');
});
