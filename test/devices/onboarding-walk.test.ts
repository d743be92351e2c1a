/** The whole way, in a real browser: from the code on a screen to the screen that plays. */
import { expect } from 'vitest';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { walk } from '../support/soak.ts';
import {
  deviceOn,
  openPhone,
  openScreen,
  patience,
  scan,
  shareReachable,
  startReachable,
  textOf,
  untilPlaying,
} from './browser.ts';

describeBrowser('from the code to the screen', { timeout: 60_000 }, () => {
  const reachable = shareReachable();
  it('by touch', async () => {
    const service = reachable();
    const screen = await openScreen(service);
    const url = await scan(screen);
    const deviceId = await deviceOn(screen);
    const address = await textOf(screen, 'dd');
    expect(url).toBe(`${address}?deviceId=${deviceId}`);
    expect(new URL(url).hostname).not.toMatch(/^127\.|localhost/);

    const phone = await openPhone(url);
    await screen.getByText('Go on, on your phone').waitFor();
    await phone.getByText('Café').tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await screen.getByRole('heading', { name: 'Café' }).waitFor();
    await phone.getByRole('heading', { name: 'Café is on' }).waitFor();
    await untilPlaying(screen, 'cafe', 'Today’s cake');

    const snapshot = await (await service.get('/api/screens/cafe/connections')).json();
    expect(snapshot.connections[0]).toMatchObject({ deviceId, clientName: 'Café', page: '/screen/cafe' });
  });

  it('by keyboard', walk, async () => {
    const service = reachable();
    const screen = await openScreen(service, { viewport: { width: 540, height: 960 } });
    const phone = await openPhone(await scan(screen), { hasTouch: false, isMobile: false });
    const keys = async (...names: string[]): Promise<void> => {
      for (const name of names) await phone.keyboard.press(name);
    };
    await phone.getByRole('heading', { name: 'Set up this player' }).waitFor();
    await keys('Tab', 'Space', 'ArrowDown', 'ArrowDown', 'Tab', 'ControlOrMeta+A');
    await phone.keyboard.type('North wall');
    await keys('Enter');
    await phone.getByText('“North wall” is set up').waitFor();
    await untilPlaying(screen, 'gate-4', 'Boarding');
    const snapshot = await (await service.get('/api/screens/gate-4/connections')).json();
    expect(snapshot.connections[0]).toMatchObject({ clientName: 'North wall', label: 'North wall' });
  });

  it('in German', walk, async () => {
    const service = reachable();
    const screen = await openScreen(service, { locale: 'de-AT' });
    await screen.getByText('Wartet auf Ihr Handy').waitFor();
    expect(await screen.getAttribute('html', 'lang')).toBe('de');
    const phone = await openPhone(await scan(screen), { locale: 'de-CH' });
    await phone.getByText('Lobby').tap();
    await phone.getByRole('button', { name: 'Loslegen' }).tap();
    await phone.getByRole('heading', { name: 'Lobby läuft' }).waitFor();
    await untilPlaying(screen, 'lobby', 'Welcome');
  });

  it('on to another screen later, which is asked once', walk, async () => {
    const service = await startReachable();
    const screen = await openScreen(service);
    const phone = await openPhone(await scan(screen));
    await phone.getByText('Lobby').tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await untilPlaying(screen, 'lobby', 'Welcome');

    await phone.getByRole('button', { name: 'Change something' }).tap();
    await phone.getByText('“Lobby” shows “Lobby” now.').waitFor();
    await phone.getByText('Gate 4').tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await phone.getByText('It shows “Lobby” now. Change it to “Gate 4”?').waitFor();
    await phone.getByRole('button', { name: 'No, leave it' }).tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await phone.getByRole('button', { name: 'Yes, change it' }).tap();
    await phone.getByRole('heading', { name: 'Gate 4 is on' }).waitFor();
    await untilPlaying(screen, 'gate-4', 'Boarding');
  });

  it('of a device that was bound while its screen was off', async () => {
    const service = reachable();
    const binding = { deviceId: 'box-7', clientName: 'Box', screenSlug: 'cafe' };
    expect(await (await service.post('/api/onboarding', binding)).json()).toMatchObject({ queued: true });
    const screen = await openScreen({ ...service, url: `${service.url}/?deviceId=box-7` });
    await untilPlaying(screen, 'cafe', 'Today’s cake');
    await expect
      .poll(async () => (await (await service.get('/api/screens/cafe/connections')).json()).connections[0], patience)
      .toMatchObject({ deviceId: 'box-7', clientName: 'Box' });
  });
});
