/** A draft in the console: kept on the box, gone on with in another browser, and merged where two people type. */
import { expect } from 'vitest';
import type { Draft } from '../../service/contract/console/drafts.ts';
import { itBrowser } from '../support/browser.ts';
import { lobby, patience } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { openConsole } from './browser.ts';

itBrowser('what is typed is found again in another browser, and what two people type is merged', async () => {
  const slides = ['one', 'two'].map((id) => ({ id, kind: 'text', title: id }));
  const service = await startTestService({ content: lobby(slides), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const drafts = async (): Promise<Draft[]> =>
    ((await (await service.get('/console/api/drafts')).json()) as { drafts: Draft[] }).drafts;
  const titles = async (): Promise<unknown> => {
    const [draft] = await drafts();
    if (draft === undefined) return null;
    const { content } = (await (await service.get(`/console/api/drafts/${draft.id}`)).json()) as {
      content: { playlists: { slides: { title: string }[] }[] };
    };
    return content.playlists[0]?.slides.map(({ title }) => title);
  };
  const [anna, boris] = [await openConsole(service.url), await openConsole(service.url)];
  const type = async ({ page }: typeof anna, slide: string, title: string): Promise<void> => {
    await page.getByRole('button', { name: new RegExp(`^\\d\\. ${slide}`) }).click();
    await page.getByLabel('Title').fill(title);
  };
  await anna.go('content/playlists/main');
  await type(anna, 'one', 'Anna');
  await anna.page.getByText('Saved on the box.').waitFor();
  await expect.poll(titles, patience).toEqual(['Anna', 'two']);

  await boris.go('content');
  await boris.page.getByText('1 draft').waitFor();
  await boris.page.getByRole('button', { name: 'Go on with it' }).click();
  await boris.go('content/playlists/main');
  await boris.page.getByRole('button', { name: '1. Anna' }).waitFor();
  await type(boris, 'two', 'Boris');
  await expect.poll(titles, patience).toEqual(['Anna', 'Boris']);
  await type(anna, 'Anna', 'Anna again');
  await expect.poll(titles, patience).toEqual(['Anna again', 'Boris']);
  await anna.page.getByRole('button', { name: '2. Boris' }).waitFor();

  await anna.page.getByRole('button', { name: 'Publish …' }).click();
  await anna.page.getByRole('button', { name: 'Publish now' }).click();
  await expect.poll(async () => (await service.get('/api/screens/lobby/playlist')).text(), patience).toContain('Boris');
  await expect.poll(async () => (await drafts()).length, patience).toBe(0);
});
