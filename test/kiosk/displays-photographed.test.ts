/**
 * What is seen under the real runtime, or the mock, on a compositor without hardware: what only a runtime's own painting
 * can get wrong. With SIGNAGE_PHOTOGRAPHS the photographs stay in that folder.
 */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type CompositorSession, describeCompositor, type Output, startSession } from '../support/compositor.ts';
import { patience, startKiosk } from '../support/kiosk.ts';
import { colourSlide, colourTemplate } from '../support/player.ts';

const player = `
trap 'exit 0' TERM
touch player-started
while :; do sleep 0.1; done`;

const folder = process.env['SIGNAGE_PHOTOGRAPHS'];

/** The colour that most of a display has, as `red,green,blue` in steps of 16. */
const colourOf = async (session: CompositorSession, outputs: readonly Output[], name: string): Promise<string> => {
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true });
    await session.run('grim', ['-o', outputs[0]?.name ?? '', resolve(folder, `${name}.png`)]);
  }
  const [photograph = new Map<string, number>()] = await session.photograph(outputs.slice(0, 1));
  const [[colour, share] = ['', 0]] = [...photograph].toSorted(([, a], [, b]) => b - a);
  return share > 0.4 ? colour : '';
};

const OWN = '16,48,48';
const WHITE = '240,240,240';
const RED = '240,0,0';
const BLACK = '0,0,0';

describeCompositor('a display', { timeout: 240_000 }, () => {
  it('shows the background of its window, a slide, a web page without a background, the blackout, and the demo', async () => {
    const server = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>Figures</title><p>7</p>');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

    const session = await startSession({ player, more: { WLR_HEADLESS_OUTPUTS: '1' } });
    const outputs = await session.outputs();
    const [output] = outputs;
    const bounds = output?.rect ?? { x: 0, y: 0, width: 1280, height: 720 };
    const web = { id: 'plain', kind: 'web', media_url: site, duration_seconds: 3600 };
    const kiosk = await startKiosk({
      config: { port: 'http', kiosk: { displays: [{ display: 1, screen: 'lobby' }] } },
      content: {
        screens: ['lobby', 'web'].map((slug) => ({ name: slug, slug, playlist_id: slug })),
        playlists: [
          { id: 'lobby', slides: [colourSlide('red', [240, 0, 0])] },
          { id: 'web', slides: [web] },
        ],
        templates: [colourTemplate],
      },
      env: {
        ...session.env,
        SIGNAGE_PORT: '',
        DOUBLE_WINDOWS: 'wayland',
        DOUBLE_DISPLAYS: JSON.stringify([{ id: 11, label: 'Display 1', bounds }]),
      },
    });
    const shows = (name: string, colour: string) =>
      expect
        .poll(() => colourOf(session, outputs, name), { ...patience, interval: 250, timeout: 60_000, message: name })
        .toBe(colour);
    const show = (slug: string): void =>
      writeFileSync(
        join(kiosk.dataDir, 'config.json'),
        JSON.stringify({ port: 0, kiosk: { displays: [{ display: 1, screen: slug }] } }),
      );
    const blackout = async (on: boolean): Promise<void> => {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
      const body = JSON.stringify({ command: 'blackout', blackout: on });
      const send = async () =>
        (await fetch(`${await kiosk.url()}/api/screens/lobby/commands`, { ...init, body })).json();
      // The slide may be seen before the page is connected.
      await expect.poll(send, patience).toMatchObject({ sent: 1 });
    };

    // Without a service, whose setting is invalid, the kiosk's own page.
    await shows('1-background', OWN);
    show('lobby');
    await shows('2-slide', RED);
    await blackout(true);
    await shows('3-blackout', BLACK);
    await blackout(false);
    await shows('4-slide', RED);
    const playlists = [{ id: 'lobby', slides: [web] }];
    const screens = [{ name: 'lobby', slug: 'lobby', playlist_id: 'lobby' }];
    writeFileSync(join(kiosk.dataDir, 'content.json'), JSON.stringify({ screens, playlists }));
    await shows('5-web', WHITE);
  });
});
