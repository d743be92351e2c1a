/** A change of a device is dated once, by the box that made it, so that boxes with equal bindings have equal digests. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json as readBody } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { DeviceBinding } from '../../service/contract/peers.ts';
import { patience } from '../support/observe.ts';
import type { TestService } from '../support/service.ts';
import { bindingsOf, listenOn, postTo, secret, startBox, startSite, withAndWithoutSecret } from './support.ts';

const madeAt = '2026-01-31T08:00:00.000Z';

describe.each(withAndWithoutSecret)('%s', (_, env) => {
  const getJson = async (box: TestService, path: string) => {
    const headers = signRequest({ secret, method: 'GET', url: box.url + path });
    return (await box.get(path, { headers })).json();
  };
  const digestOf = async (box: TestService): Promise<string> => (await getJson(box, '/api/peers/state')).bindings;
  /** Posts as another box that relays it. */
  const relay = async (box: TestService, path: string, body: object) => {
    const { nodeId: recipient } = await (await box.get('/healthz')).json();
    const signed = { secret, method: 'POST', url: box.url + path, body: JSON.stringify(body), recipient };
    const between = { ...signed, version: 'v2' } as const;
    return box.post(path, body, { ...signRequest(between), 'x-signage-relay': randomUUID() });
  };
  const binding = (clientName: string, more = {}) => ({ deviceId: 'd1', clientName, screenSlug: 'lobby', ...more });
  const bind = (box: TestService, clientName: string, more = {}) =>
    postTo(box, '/api/onboarding', binding(clientName, more));

  test('a binding, a name and a forgotten device have one date on all boxes', async () => {
    const boxes = await startSite({ env }, 1);
    const [one, two, three = one] = boxes;
    const untilEqual = async (expected: object): Promise<void> => {
      const records = await bindingsOf(one);
      expect(records).toMatchObject([expected]);
      // Each request was answered once all boxes had stored the change.
      for (const box of boxes) expect(await bindingsOf(box)).toEqual(records);
      expect(new Set(await Promise.all(boxes.map(digestOf))).size).toBe(1);
    };
    expect((await bind(two, 'Door')).status).toBe(200);
    await untilEqual({ clientName: 'Door', screenSlug: 'lobby' });
    const rename = { command: 'setclientname', deviceId: 'd1', clientName: 'Gate' };
    expect((await postTo(three, '/api/screens/lobby/commands', rename)).status).toBe(200);
    await untilEqual({ clientName: 'Gate', screenSlug: 'lobby' });
    const url = `${one.url}/console/api/devices/d1`;
    const headers = signRequest({ secret, method: 'DELETE', url });
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(204);
    await untilEqual({ screenSlug: null, forgotten: true });
  });

  test('a relayed binding keeps its date, and an older one changes nothing', async () => {
    const box = await startBox([], { env });
    expect((await relay(box, '/api/onboarding', binding('Door', { updatedAt: madeAt }))).status).toBe(200);
    expect(await bindingsOf(box)).toMatchObject([{ clientName: 'Door', updatedAt: madeAt }]);
    const older = { updatedAt: '2025-12-31T08:00:00.000Z' };
    expect(await (await relay(box, '/api/onboarding', binding('Old', older))).json()).toMatchObject({ queued: true });
    const rename = { command: 'setclientname', deviceId: 'd1', clientName: 'Old', ...older };
    await relay(box, '/api/screens/lobby/commands', rename);
    expect(await bindingsOf(box)).toMatchObject([{ clientName: 'Door', updatedAt: madeAt }]);
  });

  test('a date in a request that no box relays is not read, and one of the year 9999 is refused', async () => {
    const box = await startBox([], { env });
    await bind(box, 'Door', { updatedAt: madeAt });
    const [record] = await bindingsOf(box);
    expect(record?.updatedAt).not.toBe(madeAt);
    const answer = await relay(box, '/api/onboarding', binding('Poison', { updatedAt: '9999-12-31T23:59:59.999Z' }));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_field', field: 'updatedAt' } });
    expect(await bindingsOf(box)).toEqual([record]);
  });

  test('a relayed binding to a screen that has not arrived yet is kept', async () => {
    const box = await startBox([], { env });
    const answer = await relay(box, '/api/onboarding', binding('Door', { updatedAt: madeAt, screenSlug: 'later' }));
    expect(answer.status).toBe(404);
    expect(await bindingsOf(box)).toMatchObject([{ screenSlug: 'later', updatedAt: madeAt }]);
  });
});

test('the date is sent to every peer', async () => {
  const posts: unknown[] = [];
  const url = await listenOn(
    createServer(async (request, response) => {
      if (request.method === 'POST') posts.push([request.url, await readBody(request)]);
      response.setHeader('Content-Type', 'application/json').end('{}');
    }),
  );
  const box = await startBox([{ url }]);
  await postTo(box, '/api/onboarding', { deviceId: 'd1', clientName: 'Door', screenSlug: 'lobby' });
  const [{ updatedAt }] = (await bindingsOf(box)) as [DeviceBinding];
  const sent = ['/api/onboarding', { deviceId: 'd1', clientName: 'Door', screenSlug: 'lobby', updatedAt }];
  await expect.poll(() => posts, patience).toEqual([sent]);
});
