/** Long compounds on slides, in a browser whose language is German. */
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser, launchBrowser } from '../../support/browser.ts';
import { createOperator } from '../../support/operator.ts';
import { lobby } from '../../support/player.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const compound = 'Donaudampfschifffahrtsgesellschaftskapitänsmütze';

const open = async ({ url }: TestService, locale: string, lost = ''): Promise<Page> => {
  const context = await (await launchBrowser()).newContext({ viewport: { width: 540, height: 960 }, locale });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  if (lost !== '') await page.route(lost, (route) => route.abort());
  await page.goto(`${url}/screen/lobby`);
  await page.locator('.slide[data-state="playing"] .title').waitFor();
  return page;
};

/** The lines of the title, as they are painted. */
const linesOf = (page: Page): Promise<string[]> =>
  page.locator('.slide[data-state="playing"] .title').evaluate((title) => {
    const text = title.firstChild as Text;
    const lines = new Map<number, string>();
    for (let at = 0; at < text.length; at += 1) {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      // The first letter of a line is at the end of the line before it too.
      const { top = 0, width = 0 } = [...range.getClientRects()].at(-1) ?? {};
      const line = Math.round(top);
      if (width > 0) lines.set(line, (lines.get(line) ?? '') + text.data.charAt(at));
    }
    return [...lines.values()];
  });

describeBrowser('a compound that is longer than a line', () => {
  it('is hyphenated between its syllables', async () => {
    const service = await startTestService({ content: lobby([{ id: 'a', kind: 'text', title: compound }]) });
    const lines = await linesOf(await open(service, 'de-AT'));
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.slice(0, -1).every((line) => line.endsWith('\u00ad'))).toBe(true);
    expect(lines.join('').replaceAll('\u00ad', '')).toBe(compound);
  });

  it('leaves short words alone', async () => {
    const service = await startTestService({ content: lobby([{ id: 'a', kind: 'text', title: 'Guten Morgen' }]) });
    const page = await open(service, 'de-AT');
    expect(await page.locator('.title').first().textContent()).toBe('Guten Morgen');
  });

  it('is shown in an emergency though the patterns are not there', async () => {
    const service = await startTestService({ content: lobby([{ id: 'a', kind: 'text', title: 'Guten Morgen' }]) });
    const page = await open(service, 'de-DE', '**/de-1996-*.js');
    const until = new Date(Date.now() + 300_000).toISOString();
    const emergency = { targets: ['all'], level: 'emergency', title: 'Evakuierungsalarm', until };
    await createOperator(service, null)('PUT', '/console/api/takeovers/fire', emergency);
    await page.locator('#takeover.on').getByText('Evakuierungsalarm').waitFor();
  });
});
