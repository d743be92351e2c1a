/** The baseline variant on a data directory that an extended run has written: it shows, tells and does nothing of that. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readInvitation } from '../../service/domain/joining.ts';
import { makeDevice } from '../support/device-key.ts';
import { healthOf, patience, payloadOf } from '../support/observe.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import { joinWith, makeKey } from '../support/people.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';

const hours = [{ open: '00:00', close: '00:00' }];
const slides = (...ids: string[]) => ids.map((id) => ({ id, kind: 'text', title: id }));
const contentWith = (...playlists: string[]) => ({
  screens: ['lobby', 'door'].map((slug) => ({ name: slug, slug, playlist_id: 'welcome', hours })),
  playlists: [
    { id: 'welcome', slides: [...slides('hello'), { id: 'cut', kind: 'image', media_url: '/media/cut.tiff' }] },
    ...playlists.map((id) => ({ id, slides: slides(id) })),
  ],
});
const tempo = { ...testTempo, devices: { ...testTempo.devices, poll: 10, start: 0 } };

const sentencesOf = async (service: TestService): Promise<string> => {
  const { warnings, content } = await healthOf(service);
  return [...warnings, ...content.warnings.map(({ message }) => message)].join('\n');
};

const [bound, typed] = [makeDevice(), makeDevice()];
/** Opens a page as the device. @param as the id; default: that of its key */
const open = async (service: TestService, device: ReturnType<typeof makeDevice>, as = device.deviceId) =>
  joinScreen(
    service,
    'door',
    { deviceId: as, proof: device.prove({ nodeId: service.nodeId, deviceId: as }) },
    { protocols: await protocolsOf(service, 'door', operatorSecret) },
  );

/** A box with an emergency, a playlist of a trigger, a display to be moved, one that is gone, an admin and a damaged picture. */
const runExtended = async (dataDir: string): Promise<void> => {
  mkdirSync(join(dataDir, 'uploads'));
  writeFileSync(join(dataDir, 'uploads', 'cut.tiff'), 'II*\u0000 and no more');
  const env = { ...secretSettings(operatorSecret), SIGNAGE_PUBLIC_URL: 'http://10.0.0.5:8080' };
  const started = await startTestService({ content: contentWith('party', 'gone'), env, dataDir, tempo });
  // Not compared with the document, which takes long to read: other tests do that.
  const box: TestService = { ...started, get: (path, init) => fetch(started.url + path, init) };
  const ask = createOperator(box, operatorSecret);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await ask('PUT', '/console/api/takeovers/fire', { targets: ['all'], level: 'emergency', title: 'Fire', until });
  const tokens = ['party', 'gone'].map(async (playlist_id) => {
    const effect = { playlist: { targets: ['all'], playlist_id, minutes: 30 } };
    return (await (await ask('POST', '/console/api/triggers', { name: playlist_id, effect })).json()).token as string;
  });
  await box.get(`/api/triggers/${await tokens[0]}`, { method: 'POST' });
  for (const deviceId of [bound.deviceId, 'typed'])
    await ask('POST', '/api/onboarding', { deviceId, clientName: 'Wall', screenSlug: 'lobby' });
  await open(box, typed, 'typed');
  await open(box, bound, 'typed');
  const { person = '', code = '' } = readInvitation(new URL((await box.recover()).url).hash) ?? {};
  await joinWith(box, code, person, makeKey());
  await Promise.all(tokens);
  box.writeContent(contentWith('party'));
  const ids = async () => (await payloadOf(box)).slides.map(({ id }) => id);
  await expect.poll(ids, patience).toEqual(['takeover-fire', 'party']);
  expect(box.hours('lobby')).toBeNull();
  for (const told of ['is away', 'An admin joined', 'the trigger names', 'is not shown', 'another key'])
    await expect.poll(() => sentencesOf(box), patience).toContain(told);
  await box.close();
};

test('the baseline shows, tells and does nothing of what an extended run has left', { timeout: 60_000 }, async () => {
  const dataDir = temporaryFolder();
  await runExtended(dataDir);
  const env = {
    ...secretSettings(operatorSecret),
    SIGNAGE_VARIANT: 'baseline',
    SIGNAGE_FFMPEG_PATH: '/nowhere/ffmpeg',
    SIGNAGE_REQUIRE_PEOPLE: 'on',
    SIGNAGE_FLEET_URL: 'nats://127.0.0.1:9',
    SIGNAGE_MQTT_URL: 'mqtt://127.0.0.1:9',
  };
  const box = await startTestService({ content: contentWith('party'), env, dataDir, tempo });
  expect((await payloadOf(box)).slides.map(({ id }) => id)).toEqual(['hello', 'cut']);
  expect(box.hours('lobby')).toEqual(hours);
  // Nothing moves or names the pages: neither a display that was still to be moved nor one with another key.
  for (const page of [await open(box, bound), await open(box, bound, 'typed')]) {
    page.send({ type: 'time', t0: 0 });
    await page.message(({ type }) => type === 'time');
    expect(page.messages.filter(({ type }) => type === 'command')).toEqual([]);
  }
  const { status, warnings, content, fleet, machine } = await healthOf(box);
  expect({ status, warnings, told: content.warnings, fleet, machine }).toEqual({
    status: 'ok',
    warnings: ['REQUIRE_PEOPLE', 'FLEET_URL', 'MQTT_URL'].map(
      (name) => `SIGNAGE_${name} is ignored in the baseline variant`,
    ),
    told: [],
    fleet: undefined,
    machine: undefined,
  });
});
