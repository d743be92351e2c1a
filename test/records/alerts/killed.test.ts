/** Alerts of a site whose sender is killed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Alert } from '../../../service/contract/alerts.ts';
import type { Health } from '../../../service/contract/health.ts';
import { lobby } from '../../content/samples.ts';
import { postTo, secret, untilTogether } from '../../peers/support.ts';
import { startHeadless } from '../../platform/options/process.ts';
import { patience } from '../../support/observe.ts';
import { joinScreen, protocolsOf } from '../../support/page.ts';
import { temporaryFolder } from '../../support/service.ts';
import { startReceiver } from '../receiver.ts';

const GRACE_MS = 2_000;

const newFolder = (): string => {
  const dataDir = temporaryFolder();
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'content.json'), JSON.stringify(lobby));
  return dataDir;
};

/** A box in a process of its own. */
const startBox = async (alertUrl: string, peer = '', { dataDir = newFolder(), port = '0' } = {}) => {
  const { child, ready } = startHeadless({
    SIGNAGE_DATA_DIR: dataDir,
    SIGNAGE_PORT: port,
    SIGNAGE_SHARED_SECRET: secret,
    SIGNAGE_PEERS: peer,
    SIGNAGE_ALERT_URL: alertUrl,
    SIGNAGE_ALERT_GRACE_SECONDS: `${GRACE_MS / 1000}`,
    SIGNAGE_LOG_LEVEL: 'silent',
  });
  const url = await ready();
  const get = (path: string, init?: RequestInit) => fetch(url + path, init);
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    get(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const { nodeId } = (await (await get('/healthz')).json()) as Health;
  return {
    url,
    get,
    post,
    nodeId,
    kill: () => void child.kill('SIGKILL'),
    /** Of the same data and address, after it was killed. */
    restart: () => startBox(alertUrl, peer, { dataDir, port: new URL(url).port }),
  };
};

test.each([
  ['as a receiver takes its message, which the next box repeats with its id', true],
  ['between the outage and its end', false],
])(
  'of three boxes one tells of a screen that is cut off, of its return, and of its own, though it is killed %s',
  async (_, isEarly) => {
    const receiver = await startReceiver<Alert>();
    const first = await startBox(receiver.url);
    const boxes = [first, await startBox(receiver.url, first.url), await startBox(receiver.url, first.url)];
    await untilTogether(boxes);
    // The one with the lowest id sends.
    const [sender, left, right] = boxes.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1)) as [
      typeof first,
      typeof first,
      typeof first,
    ];
    /** Without repeats, which have the id of the first. */
    const types = () => {
      const bodies = new Map(receiver.received.map(({ headers, body }) => [headers['webhook-id'], body]));
      return [...bodies.values()].map(({ type }) => type).toSorted();
    };
    const attempts: { id: unknown; text: string; at: number }[] = [];
    receiver.onMessage(({ headers, text }) => {
      attempts.push({ id: headers['webhook-id'], text, at: performance.now() });
      if (!isEarly || attempts.length > 1) return true;
      sender.kill();
      return false;
    });

    const protocols = await protocolsOf(left, 'lobby', secret);
    const page = await joinScreen(left, 'lobby', { deviceId: 'device-1' }, { protocols });
    // A device that was bound before its page is there is away meanwhile.
    await postTo(left, '/api/onboarding', { deviceId: 'device-1', clientName: 'Door', screenSlug: 'lobby' });
    const cutAt = performance.now();
    page.socket.terminate();
    await expect.poll(types, { ...patience, timeout: 60_000 }).toContain('device.away');
    expect(attempts[0]?.at).toBeGreaterThan(cutAt + GRACE_MS);
    if (isEarly) {
      const repeat = receiver.received.find(({ body }) => body.type === 'device.away');
      expect(repeat).toMatchObject({ text: attempts[0]?.text, headers: { 'webhook-id': attempts[0]?.id } });
    } else sender.kill();
    await expect.poll(types, { ...patience, timeout: 60_000 }).toEqual(['box.away', 'device.away']);
    await joinScreen(right, 'lobby', { deviceId: 'device-1' }, { protocols });
    await expect.poll(types, { ...patience, timeout: 60_000 }).toEqual(['box.away', 'device.away', 'device.back']);
    const boxAway = receiver.received.find(({ body }) => body.type === 'box.away');
    expect(boxAway?.body).toMatchObject({ subject: sender.nodeId, site: 'default' });
    // The box with the lowest id sends again from its start on; that it was away only the others have said.
    await sender.restart();
    await expect.poll(types, { ...patience, timeout: 60_000 }).toContain('box.back');
    const boxBack = receiver.received.find(({ body }) => body.type === 'box.back');
    expect(boxBack?.body).toMatchObject({ subject: sender.nodeId });
  },
  180_000,
);
