/** The console in a real Chromium, over plain http on an address that is no secure context, with a secret. */
import { networkInterfaces } from 'node:os';
import axe from 'axe-core';
import { expect, onTestFinished } from 'vitest';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import { itBrowser, launchBrowser } from '../support/browser.ts';
import { lobby, patience } from '../support/player.ts';
import { startTestService, type TestService } from '../support/service.ts';

const secret = 'correct horse battery staple';
const address = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address;

const titlesOf = async (service: TestService): Promise<(string | null)[]> => {
  const { slides } = (await (await service.get('/api/screens/lobby/playlist')).json()) as PlaylistPayload;
  return slides.map(({ title }) => title);
};

itBrowser(
  'an editor signs in, adds a slide, publishes it, and every page is clean for axe in both schemes',
  async () => {
    const service = await startTestService({
      content: lobby([{ id: 'hello', kind: 'text', title: 'Hello' }]),
      env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_SHARED_SECRET: secret },
    });
    const context = await (await launchBrowser()).newContext({
      viewport: { width: 1280, height: 800 },
      locale: 'en-GB',
    });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const url = `http://${address ?? '127.0.0.1'}:${new URL(service.url).port}/console`;
    await page.goto(url);

    const signIn = page.getByLabel('Shared secret');
    await signIn.fill('a secret that was never set here');
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByText('This is not the secret of this site.').waitFor();
    await signIn.fill(secret);
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByRole('link', { name: 'Lobby' }).waitFor();

    await page.goto(`${url}#/content/playlists/main`);
    await page.getByRole('button', { name: 'Add slide' }).click();
    await page.getByRole('button', { name: /^Text/ }).click();
    await page.getByLabel('Title', { exact: true }).fill('Fresh bread');
    await page.getByRole('button', { name: 'Publish …' }).click();
    await page.getByText('“Fresh bread”: new').waitFor();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByText('Published. It plays now.').waitFor();
    await expect.poll(() => titlesOf(service), patience).toEqual(['Hello', 'Fresh bread']);

    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const [hash, heading] of [
        ['', 'Screens'],
        ['screens/lobby', 'Lobby'],
        ['content', 'Content'],
        ['content/playlists/main', 'Content'],
        ['media', 'Media'],
        ['takeovers', 'Takeover'],
        ['boxes', 'Boxes'],
      ]) {
        await page.goto(`${url}#/${hash}`);
        await page.getByRole('heading', { name: heading ?? '', level: 1 }).waitFor();
        await page.evaluate(axe.source);
        const found = await page.evaluate(async () => {
          const { axe: run } = globalThis as unknown as { axe: typeof axe };
          const { violations } = await run.run(document, {
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'],
            iframes: false,
          });
          return violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
        });
        expect(found, `${hash} ${colorScheme}`).toEqual([]);
      }
    }
  },
  60_000,
);
