/** A version that was rolled back: it finds the state of the version after it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lobby } from '../../content/samples.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';

const nodeId = '00000000-0000-4000-8000-00000000000a';
const updatedAt = '2026-01-01T00:00:00.000Z';
const binding = { clientName: 'Front desk', screenSlug: 'lobby', updatedAt };

/** As a later version may write it: more fields, another seal, and a device in a shape that is not known yet. */
const newer = {
  format: 2,
  seq: 41,
  seal: 'ed25519:AAAA',
  body: {
    nodeId,
    devices: [
      { deviceId: 'device-1', ...binding, tags: ['entrance'] },
      { deviceId: 'device-2', ...binding, displays: { count: 2 } },
      { deviceId: 'device-3', ...binding, screenSlug: { left: 'lobby', right: 'menu' } },
    ],
    takeovers: [{ id: 'fire' }],
  },
};

interface Saved {
  format: number;
  body: { devices: { deviceId: string }[]; takeovers: unknown };
}

const setUp = async (state: object) => {
  const dataDir = temporaryFolder();
  const file = join(dataDir, 'state.json');
  writeFileSync(file, JSON.stringify(state));
  const start = () => startTestService({ content: lobby, dataDir });
  const saved = (): Saved => JSON.parse(readFileSync(file, 'utf8')) as Saved;
  return { dataDir, start, saved };
};

test('the state of a newer version keeps the box, its bindings, and what only the newer version knows', async () => {
  const { dataDir, start, saved } = await setUp(newer);
  const box = await start();
  const health = await (await box.get('/healthz')).json();
  expect(health.nodeId).toBe(nodeId);
  expect(health.store.faults).toEqual([expect.stringContaining('state.json.format-2')]);
  for (const deviceId of ['device-1', 'device-2']) {
    const status = await (await box.get(`/api/onboarding/status?deviceId=${deviceId}`)).json();
    expect(status).toMatchObject({ onboarded: true, clientName: 'Front desk', screenSlug: 'lobby' });
  }
  const bound = await box.post('/api/onboarding', { deviceId: 'device-1', clientName: 'Door', screenSlug: 'lobby' });
  expect(bound.status).toBe(200);
  await box.close();

  const { format, body } = saved();
  expect(format).toBe(1);
  expect(body.takeovers).toEqual([{ id: 'fire' }]);
  expect(body.devices).toMatchObject([
    { deviceId: 'device-1', clientName: 'Door', tags: ['entrance'] },
    { deviceId: 'device-2', clientName: 'Front desk', displays: { count: 2 } },
    // It is passed on to boxes that know it.
    newer.body.devices[2],
  ]);
  expect(JSON.parse(readFileSync(join(dataDir, 'state.json.format-2'), 'utf8'))).toEqual(newer);
  expect(readdirSync(dataDir).filter((name) => name.includes('.corrupt-'))).toEqual([]);

  const again = await start();
  const status = await (await again.get('/api/onboarding/status?deviceId=device-1')).json();
  expect(status).toMatchObject({ onboarded: true, clientName: 'Door' });
});
