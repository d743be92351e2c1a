/** A box on a machine in UTC that nobody has told its time zone: it follows the phone that connects its first display. */
import { expect, it, vi } from 'vitest';
import { zoneHeader } from '../../service/contract/playlist.ts';
import { describeBrowser, itBrowser } from '../support/browser.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { content, deviceOn, openPhone, openScreen, patience, startReachable, untilPlaying } from './browser.ts';
import { bind } from './support.ts';

vi.stubEnv('TZ', 'UTC');

/** The time zone of the schedules; null: the service does not answer. */
const zoneOf = ({ url }: Pick<TestService, 'url'>): Promise<string | null> =>
  fetch(`${url}/api/screens/lobby/playlist`).then(
    ({ headers }) => headers.get(zoneHeader),
    () => null,
  );
const bindFrom = async (service: TestService, timeZone: string, deviceId = 'device-1') =>
  expect((await bind(service, { deviceId }, { [zoneHeader]: timeZone })).status).toBe(200);

it('it takes the zone, keeps it over a restart, and keeps it when a phone from elsewhere comes', async () => {
  const dataDir = temporaryFolder();
  const first = await startTestService({ content, dataDir });
  expect(await zoneOf(first)).toBe('UTC');
  await bindFrom(first, 'Europe/Vienna');
  await expect.poll(() => zoneOf(first), patience).toBe('Europe/Vienna');
  const status = await (await first.get('/api/onboarding/status?deviceId=device-1')).json();
  expect(status).toMatchObject({ onboarded: true, screenSlug: 'lobby' });
  await bindFrom(first, 'Asia/Tokyo', 'device-2');
  await first.close();
  const second = await startTestService({ dataDir });
  expect(await zoneOf(second)).toBe('Europe/Vienna');
});

it.each([
  ['', 'a program that says nothing'],
  ['UTC', 'a phone in UTC'],
  ['Etc/Unknown', 'a phone that does not know'],
  ['<script>', 'a stranger'],
])('%j, of %s, changes nothing', async (timeZone) => {
  const service = await startTestService({ content });
  await bindFrom(service, timeZone);
  expect(service.log()).not.toContain('time zone');
  await bindFrom(service, 'America/New_York');
  await expect.poll(() => zoneOf(service), patience).toBe('America/New_York');
});

it('what stands in the settings wins, now and later', async () => {
  const dataDir = temporaryFolder();
  const set = await startTestService({ content, dataDir, env: { SIGNAGE_TIME_ZONE: 'UTC' } });
  await bindFrom(set, 'Europe/Vienna');
  await set.close();
  const told = await startTestService({ dataDir });
  expect(await zoneOf(told)).toBe('UTC');
  await bindFrom(told, 'Europe/Vienna');
  await expect.poll(() => zoneOf(told), patience).toBe('Europe/Vienna');
  await told.close();
  const changed = await startTestService({ dataDir, env: { SIGNAGE_TIME_ZONE: 'Asia/Tokyo' } });
  expect(await zoneOf(changed)).toBe('Asia/Tokyo');
});

it('a binding that is refused tells nothing', async () => {
  const service = await startTestService({ content });
  const headers = { [zoneHeader]: 'Europe/Vienna' };
  expect((await bind(service, { screenSlug: 'nowhere' }, headers)).status).toBe(404);
  expect(service.log()).not.toContain('time zone');
});

describeBrowser('with a phone', { timeout: 60_000 }, () => {
  itBrowser('the display plays on, and its clocks follow', async () => {
    // It reloads at the end of a slide.
    const playlists = content.playlists.map(({ id, slides }) => ({
      id,
      slides: slides.map((slide) => ({ ...slide, duration_seconds: 1 })),
    }));
    const service = await startReachable({}, { content: { ...content, playlists } });
    const screen = await openScreen(service);
    const deviceId = await deviceOn(screen);
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
