/** A kiosk on a machine in UTC that has no setting: it learns its time zone at its first display, or from another box. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { zoneHeader } from '../../service/contract/playlist.ts';
import { describeBrowser, itBrowser } from '../support/browser.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { content, deviceOn, openPhone, openScreen, patience, startReachable, untilPlaying } from './browser.ts';
import { bind } from './support.ts';

vi.stubEnv('TZ', 'UTC');

/** A box with these displays. */
const hostOf = (...displays: string[]) => ({
  kiosk: () => ({ screens: displays.map((deviceId) => ({ deviceId })) }) as never,
});
const start = (more: Parameters<typeof startTestService>[0] = {}) =>
  startTestService({ content, host: hostOf('display-1', 'display-2'), ...more });

/** The time zone of the schedules; null: the service does not answer. */
const zoneOf = ({ url }: Pick<TestService, 'url'>): Promise<string | null> =>
  fetch(`${url}/api/screens/lobby/playlist`).then(
    ({ headers }) => headers.get(zoneHeader),
    () => null,
  );
const bindFrom = async (service: TestService, timeZone: string, deviceId = 'display-1') =>
  expect((await bind(service, { deviceId }, { [zoneHeader]: timeZone })).status).toBe(200);
/** What the audit says of it. */
const learned = async (service: TestService): Promise<unknown[]> => {
  const { records } = (await (await service.get('/console/api/audit?limit=1000')).json()) as {
    records: { action: string; target: string }[];
  };
  return records.flatMap(({ action, target }) => (action === 'box.zone' ? [target] : []));
};

it('it takes the zone of the phone, keeps it over a restart, and follows no other phone', async () => {
  const dataDir = temporaryFolder();
  const first = await start({ dataDir });
  expect(await zoneOf(first)).toBe('UTC');
  await bindFrom(first, 'Europe/Vienna');
  await expect.poll(() => zoneOf(first), patience).toBe('Europe/Vienna');
  expect(await learned(first)).toEqual(['Europe/Vienna']);
  const status = await (await first.get('/api/onboarding/status?deviceId=display-1')).json();
  expect(status).toMatchObject({ onboarded: true, screenSlug: 'lobby' });
  await bindFrom(first, 'Asia/Tokyo', 'display-2');
  await first.close();
  const second = await start({ dataDir });
  expect(await zoneOf(second)).toBe('Europe/Vienna');
  // Nor does a backup lose it.
  const headers = { 'x-signage-local': readFileSync(join(dataDir, 'local-token'), 'utf8').trim() };
  const backup = await (await second.get('/console/api/backup', { headers })).text();
  expect(backup).toContain('"timeZone":"Europe/Vienna"');
});

it.each([
  ['', 'a program that says nothing'],
  ['UTC', 'a phone in UTC'],
  ['Etc/GMT', 'a phone in UTC by another name'],
  ['Etc/Unknown', 'a phone that does not know'],
  ['PST', 'a name that schedules do not take'],
  ['<script>', 'a stranger'],
])('%j, of %s, changes nothing', async (timeZone) => {
  const service = await start();
  await bindFrom(service, timeZone);
  expect(await learned(service)).toEqual([]);
});

it('what stands in the settings wins, now and later', async () => {
  const dataDir = temporaryFolder();
  const set = await start({ dataDir, env: { SIGNAGE_TIME_ZONE: 'UTC' } });
  await bindFrom(set, 'Europe/Vienna');
  expect(await learned(set)).toEqual([]);
  await set.close();
  const changed = await start({ dataDir, env: { SIGNAGE_TIME_ZONE: 'Asia/Tokyo' } });
  expect(await zoneOf(changed)).toBe('Asia/Tokyo');
});

it.each<[string, () => Promise<void>]>([
  [
    'that is refused',
    async () => {
      const service = await start();
      const headers = { [zoneHeader]: 'Europe/Vienna' };
      expect((await bind(service, { deviceId: 'display-1', screenSlug: 'nowhere' }, headers)).status).toBe(404);
      expect(await learned(service)).toEqual([]);
    },
  ],
  [
    'of a browser in the network',
    async () => {
      const service = await start();
      await bindFrom(service, 'Europe/Vienna', 'laptop');
      expect(await learned(service)).toEqual([]);
    },
  ],
  [
    'where no kiosk is',
    async () => {
      const service = await start({ host: {} });
      await bindFrom(service, 'Europe/Vienna');
      expect(await learned(service)).toEqual([]);
    },
  ],
  [
    'after one that told nothing',
    async () => {
      const service = await start();
      expect((await bind(service, { deviceId: 'display-2' })).status).toBe(200);
      await bindFrom(service, 'Europe/Vienna');
      expect(await learned(service)).toEqual([]);
    },
  ],
  [
    'that is signed',
    async () => {
      const service = await start({ env: secretSettings(operatorSecret) });
      const ask = createOperator(service, operatorSecret);
      const body = { deviceId: 'display-1', clientName: 'Hall', screenSlug: 'lobby' };
      const answer = await ask('POST', '/api/onboarding', body, { [zoneHeader]: 'Europe/Vienna' });
      expect(answer.status).toBe(200);
      expect(service.log()).not.toContain('box.zone');
    },
  ],
])('a binding %s tells nothing', (_, run) => run());

it('a box that is connected in the console learns it from another box of the site', async () => {
  const told = await startTestService({ content, env: { SIGNAGE_TIME_ZONE: 'America/New_York' } });
  const box = await start({ env: { SIGNAGE_PEERS: told.url } });
  await expect.poll(() => zoneOf(box), patience).toBe('America/New_York');
  expect(await learned(box)).toEqual(['America/New_York']);
});

describeBrowser('with a phone', { timeout: 60_000 }, () => {
  itBrowser('the display plays on, and its clocks follow', walk, async () => {
    // It reloads at the end of a slide.
    const playlists = content.playlists.map(({ id, slides }) => ({
      id,
      slides: slides.map((slide) => ({ ...slide, duration_seconds: 1 })),
    }));
    let displays: string[] = [];
    const host = { kiosk: () => hostOf(...displays).kiosk() };
    const service = await startReachable({}, { content: { ...content, playlists }, host });
    const screen = await openScreen(service);
    const deviceId = await deviceOn(screen);
    displays = [deviceId];
    const phone = await openPhone(`${service.url}/onboard?deviceId=${deviceId}`, { timezoneId: 'Europe/Vienna' });
    await phone.getByText('Café').tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await phone.getByRole('heading', { name: 'Café is on' }).waitFor();
    await expect.poll(() => zoneOf(service), patience).toBe('Europe/Vienna');
    await untilPlaying(screen, 'cafe', 'Today’s cake');
    const zoneShown = async (): Promise<unknown> => {
      // It would ask within a minute by itself.
      await service.post('/api/screens/cafe/commands', { command: 'refresh' });
      return screen
        .evaluate(() => JSON.parse(document.getElementById('boot')?.textContent ?? '{}').timeZone)
        .catch(() => null);
    };
    await expect.poll(zoneShown, { ...patience, interval: 1_000 }).toBe('Europe/Vienna');
    await phone.getByRole('heading', { name: 'Café is on' }).waitFor();
  });
});
