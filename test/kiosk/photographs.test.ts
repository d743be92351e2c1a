/**
 * What a person before the displays sees. The kiosk's windows are real ones on a real compositor, whose outputs are
 * photographed many times a second: nothing is black, or shows through, that should not.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { Display } from '../../main/windows/displays.ts';
import { LINGER_MS } from '../../main/windows/handover.ts';
import {
  type CompositorSession,
  describeCompositor,
  type Output,
  type Photograph,
  startSession,
} from '../support/compositor.ts';
import { type Electron, layersOf, passTime } from '../support/electron/ask.ts';
import { itDouble as it, leak, patience, smallMachine, startKiosk, type TestKiosk } from '../support/kiosk.ts';
import { colourSlide, colourTemplate } from '../support/player.ts';
import { isSoak } from '../support/soak.ts';
import { healthOf } from './health.ts';

const player = `
trap 'exit 0' TERM
touch player-started
while :; do sleep 0.1; done`;

/** As in photographs. `own`: pages of the kiosk; `alarm`: an emergency. */
const names: Readonly<Record<string, string>> = {
  '240,0,0': 'red',
  '0,240,0': 'green',
  '0,0,240': 'blue',
  '0,0,0': 'black',
  '240,240,240': 'white',
  '16,48,48': 'own',
  '160,0,16': 'alarm',
};

/** The colour that most of a photograph has. */
const nameOf = (photograph: Photograph): string => {
  const [[colour, share] = ['', 0]] = [...photograph].toSorted(([, a], [, b]) => b - a);
  // Nothing on it: the background of the window.
  if (names[colour] === 'own' && share > 0.95) return 'blank';
  return (share > 0.25 ? names[colour] : undefined) ?? `${colour} ${share.toFixed(2)}`;
};

/** Each photograph is a process. */
const FRAME_MS = isSoak ? 50 : 100;

/** Photographs the outputs now and then every {@link FRAME_MS}. @returns ends it; resolves with what was seen on each, in order */
const startFilm = async (
  session: CompositorSession,
  outputs: readonly Output[],
): Promise<() => Promise<string[][]>> => {
  const seen: string[][] = outputs.map(() => []);
  const see = async (): Promise<void> => {
    for (const [index, name] of (await session.photograph(outputs)).map(nameOf).entries()) {
      if (seen[index]?.at(-1) !== name) seen[index]?.push(name);
    }
  };
  await see();
  let isOn = true;
  const filming = (async () => {
    while (isOn) await Promise.all([see(), wait(FRAME_MS)]);
  })();
  return async () => {
    isOn = false;
    await filming;
    return seen;
  };
};

const startSite = async (): Promise<string> => {
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html');
    // As many pages, one has no background of its own.
    const style = request.url === '/plain' ? '' : ' style="background: rgb(0, 240, 0)"';
    response.end(`<!doctype html><title>Figures</title><body${style}>`);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

/** The outputs as Electron reports them, from left to right. */
const displaysOf = async (session: CompositorSession): Promise<Display[]> => {
  const outputs = await session.outputs();
  return outputs.map(({ rect }, index) => ({ id: 11 + index, label: `Display ${index + 1}`, bounds: rect }));
};

/** Opening hours that exclude today, at any time of day. */
const closed = () => [{ days: [((new Date().getUTCDay() + 2) % 7) + 1], open: '08:00', close: '08:01' }];

const slugs = ['lobby', 'bar', 'web', 'plain'];

/** @param shut the screens that are closed */
const contentWith = (site: string, shut: readonly string[] = []) => ({
  screens: slugs.map((slug) => ({
    name: slug,
    slug,
    playlist_id: slug,
    ...(shut.includes(slug) && { hours: closed() }),
  })),
  playlists: [
    { id: 'lobby', slides: [colourSlide('red', [240, 0, 0])] },
    { id: 'bar', slides: [colourSlide('blue', [0, 0, 240])] },
    { id: 'web', slides: [{ id: 'green', kind: 'web', media_url: site, duration_seconds: 3600 }] },
    { id: 'plain', slides: [{ id: 'plain', kind: 'web', media_url: `${site}plain`, duration_seconds: 3600 }] },
  ],
  templates: [colourTemplate],
});

const playing = { state: 'playing' };

/** A longer jump of the clock counts as sleep of the machine. */
const STEP_S = 4;

const readTransform = (): string => getComputedStyle(document.documentElement).transform;

const send = async (kiosk: TestKiosk, method: string, path: string, body?: object): Promise<void> => {
  const response = await fetch(`${await kiosk.url()}${path}`, {
    method,
    ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  expect(response.ok, await response.text()).toBe(true);
};

const isMaintained = async (kiosk: TestKiosk): Promise<boolean> =>
  (await layersOf(kiosk.evaluate)).some((layers) => layers.at(-1)?.endsWith('maintenance.html'));

/** Puts a session around a kiosk whose windows are real. */
const openKiosk = async (config: object, isNested = false) => {
  const session = await startSession({ player, isNested });
  const site = await startSite();
  if (!isNested) {
    for (const { name } of await session.outputs()) {
      await session.run('swaymsg', [`output ${name} mode --custom 640x360`]);
    }
  }
  const outputs = await session.outputs();
  const kiosk = await startKiosk({
    config,
    content: contentWith(site),
    env: {
      ...session.env,
      ...smallMachine,
      SIGNAGE_PORT: '',
      DOUBLE_WINDOWS: 'wayland',
      DOUBLE_DISPLAYS: JSON.stringify(await displaysOf(session)),
    },
  });
  const shown = async () => (await session.photograph(isNested ? await session.outputs() : outputs)).map(nameOf);
  return {
    kiosk,
    session,
    site,
    /** What the outputs show. */
    shown,
    shows: (expected: string[]) => expect.poll(shown, { ...patience, interval: 250 }).toEqual(expected),
    /** What each output shows while something happens, until both show what they should, and a little longer. */
    film: async (act: () => unknown, expected: string[]): Promise<string[][]> => {
      const end = await startFilm(session, outputs);
      try {
        await act();
        await expect.poll(shown, { ...patience, interval: 250 }).toEqual(expected);
        await wait(LINGER_MS);
      } finally {
        await end();
      }
      return end();
    },
  };
};

describeCompositor('photographs of the displays', { timeout: 240_000 }, () => {
  it('are never black when they should not be, and the chord opens the maintenance page in each state', async () => {
    const { kiosk, session, site, shown, shows, film } = await openKiosk({ port: 'http' });
    const press = async (isOpen: boolean): Promise<void> => {
      const isDone = async () => (await isMaintained(kiosk)) === isOpen;
      const attempt = async (): Promise<void> => {
        // The keyboard must be known before its first key, and until its last has arrived.
        const [settle, modifiers] = [['-s', '300'], ['ctrl', 'alt', 'shift'].flatMap((name) => ['-M', name])];
        await session.run('wtype', [...settle, ...modifiers, '-k', 'm', ...settle]);
        await expect.poll(isDone, { ...patience, timeout: 5_000 }).toBe(true);
      };
      // Chromium can lose a key while it is busy.
      await attempt().catch(attempt).catch(attempt);
    };
    /** In the soak in every state; else where the service, the picture and the hours are what is special. */
    const pressTwice = async ({ isQuick = false } = {}): Promise<void> => {
      if (!isQuick && !isSoak) return;
      const before = await shown();
      await press(true);
      // It is seen on the display that has the keyboard.
      const page = await kiosk.page(/maintenance\.html/);
      await page.locator('h1').first().waitFor();
      await expect.poll(async () => (await shown()).includes('own'), patience).toBe(true);
      await press(false);
      await shows(before);
    };

    // The service cannot start.
    await kiosk.page(/trouble\.html\?kind=settings/);
    await shows(['own', 'own']);
    await pressTwice({ isQuick: true });
    writeFileSync(join(kiosk.dataDir, 'config.json'), JSON.stringify({ port: 0 }));
    await kiosk.url();
    await expect.poll(async () => (await healthOf(kiosk)).screens, patience).toMatchObject(Array(2).fill(playing));
    const [first = '', second = ''] = ((await healthOf(kiosk)).screens as { deviceId: string }[]).map(
      ({ deviceId }) => deviceId,
    );
    const bind = (deviceId: string, screenSlug: string) =>
      send(kiosk, 'POST', '/api/onboarding', { deviceId, clientName: `at ${screenSlug}`, screenSlug });
    expect((await film(() => bind(first, 'lobby'), ['red', 'own'])).flat()).not.toContain('black');
    expect((await film(() => bind(second, 'bar'), ['red', 'blue'])).flat()).not.toContain('black');
    await pressTwice();

    const recreate = async (): Promise<void> => {
      const pages = kiosk.pages().filter((page) => page.url().includes('/screen/'));
      expect(pages.length).toBe(2);
      for (const page of pages) await leak(page, 512);
      for (let seconds = 0; seconds <= 60; seconds += STEP_S) await passTime(kiosk.evaluate, STEP_S);
      await expect.poll(async () => (await healthOf(kiosk)).recoveries, patience).toMatchObject({ recreate: 2 });
      await expect.poll(async () => (await healthOf(kiosk)).screens, patience).toMatchObject(Array(2).fill(playing));
    };
    expect(await film(recreate, ['red', 'blue'])).toEqual([['red'], ['blue']]);

    const command = (body: object) => send(kiosk, 'POST', '/api/screens/lobby/commands', body);
    const reload = async (): Promise<void> => {
      const api = `${await kiosk.url()}/api/screens/lobby/connections`;
      const connected = async () => (await (await fetch(api)).json()).connections[0];
      const { id } = await connected();
      await command({ command: 'reload' });
      const isAgain = async () => {
        const connection = await connected();
        return connection !== undefined && connection.id !== id && connection.currentSlideId === 'red';
      };
      await expect.poll(isAgain, patience).toBe(true);
    };
    // What is loaded again is filmed above.
    if (isSoak) expect((await film(reload, ['red', 'blue'])).flat()).not.toContain('black');

    const rotate = async (): Promise<void> => {
      await press(true);
      const page = await kiosk.page(/maintenance\.html/);
      await page.locator('h1').first().waitFor();
      await page.evaluate(
        async (ids) => {
          const { maintenance } = globalThis as Electron;
          await maintenance.call({ pin: '2468' });
          for (const display of ids) await maintenance.call({ order: { do: 'rotate', display, rotation: 180 } });
        },
        [11, 12],
      );
      const rotated = () => Promise.all(kiosk.pages().map((each) => each.evaluate(readTransform)));
      await expect.poll(rotated, patience).toEqual(Array(3).fill(expect.stringMatching(/^matrix\(-1/)));
      await press(false);
    };
    expect((await film(rotate, ['red', 'blue'])).flat()).not.toContain('black');

    const toWeb = (await film(() => bind(first, 'web'), ['green', 'blue'])).flat();
    expect(toWeb).not.toContain('black');
    expect(toWeb).not.toContain('white');
    await pressTwice();
    if (isSoak) expect((await film(() => bind(first, 'plain'), ['white', 'blue'])).flat()).not.toContain('black');
    expect((await film(() => bind(first, 'lobby'), ['red', 'blue'])).flat()).not.toContain('black');

    expect(await film(() => command({ command: 'blackout', blackout: true }), ['black', 'blue'])).toEqual([
      ['red', 'black'],
      ['blue'],
    ]);
    await pressTwice({ isQuick: true });
    await command({ command: 'blackout', blackout: false });
    await shows(['red', 'blue']);

    // It is lost again and again, while its picture stays.
    const lose = async (): Promise<void> => {
      for (let failures = 0; failures < 3; failures += 1) {
        await kiosk.evaluate(({ webContents }: Electron) => {
          for (const contents of webContents.getAllWebContents()) {
            if (contents.session.partition !== 'persist:display-2') continue;
            contents.emit('did-fail-load', {}, -2, 'ERR_FAILED', '', true);
          }
        });
      }
    };
    expect(await film(lose, ['red', 'own'])).toEqual([['red'], ['blue', 'own']]);
    await pressTwice();
    const endFallback = async (): Promise<void> => {
      for (let seconds = 0; seconds <= 10; seconds += STEP_S) await passTime(kiosk.evaluate, STEP_S);
    };
    expect((await film(endFallback, ['red', 'blue'])).flat()).not.toContain('black');

    const edit = (shut: readonly string[]) =>
      writeFileSync(join(kiosk.dataDir, 'content.json'), JSON.stringify(contentWith(site, shut)));
    // Each display keeps the hours of its own screen.
    expect(await film(() => edit(['bar']), ['red', 'black'])).toEqual([['red'], ['blue', 'black']]);
    await pressTwice({ isQuick: true });
    expect(await film(() => edit(slugs), ['black', 'black'])).toEqual([['red', 'black'], ['black']]);
    await pressTwice();
    const fire = '/console/api/takeovers/fire';
    const until = new Date(Date.now() + 600_000).toISOString();
    await send(kiosk, 'PUT', fire, { targets: ['all'], level: 'emergency', title: 'Leave the building', until });
    await shows(['alarm', 'alarm']);
    expect((await healthOf(kiosk)).displays).toMatchObject({ on: true });
    await send(kiosk, 'DELETE', fire);
    await shows(['black', 'black']);
    edit([]);
    await shows(['red', 'blue']);
  });

  const itSoak = isSoak ? it : it.skip;
  // In `npm test` compositor.test.ts loses outputs, and screens.test.ts displays.
  itSoak('show each display its own screen again after it was unplugged, and the others go on', async () => {
    const displays = [{ screen: 'lobby' }, { screen: 'bar' }].map((each, index) => ({ display: index + 1, ...each }));
    const { kiosk, session, shows } = await openKiosk({ port: 0, kiosk: { displays } }, true);
    await shows(['red', 'blue']);
    const [, last] = await session.outputs();
    const plug = async (): Promise<void> =>
      kiosk.evaluate(({ screen }: Electron, displays) => screen.become(displays), await displaysOf(session));
    await session.unplug(last?.name ?? '');
    await expect.poll(async () => (await session.outputs()).length, patience).toBe(1);
    await plug();
    await shows(['red']);
    await session.run('swaymsg', ['create_output']);
    await plug();
    await shows(['red', 'blue']);
  });
});
