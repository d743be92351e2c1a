/** The page of an address that leads nowhere, and motion on the pages that phones open. */
import { expect } from 'vitest';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { openForm, openPhone, shareReachable } from './browser.ts';

const reachable = shareReachable();

describeBrowser('an address that leads nowhere', () => {
  it('says so in the language of the browser, and leads to the screens that there are', async () => {
    const service = reachable();
    const phone = await openPhone(`${service.url}/lobby/menu?x=1`, { locale: 'de-AT' });
    await phone.getByRole('heading', { name: 'Hier ist nichts' }).waitFor();
    await phone.getByText('Dieser Player hat keine Seite /lobby/menu.').waitFor();
    expect(await phone.evaluate(() => document.documentElement.lang)).toBe('de');
    await phone.getByRole('link', { name: 'Gate 4' }).tap();
    await phone.waitForURL('**/screen/gate-4');
  });

  it('has nothing outside of a small screen, however long the address is', async () => {
    const service = reachable();
    const phone = await openPhone(`${service.url}/${'x'.repeat(500)}`, { viewport: { width: 320, height: 480 } });
    await phone.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  });
});

describeBrowser('where the phone asks for less motion', () => {
  it.each(['form', 'landing', 'missing'])('nothing moves by itself: %s', async (name) => {
    const service = reachable();
    const still = { reducedMotion: 'reduce' } as const;
    const phone =
      name === 'form'
        ? await openForm(service, 'device-1', still)
        : await openPhone(service.url + (name === 'landing' ? '/' : '/gone'), still);
    await phone.locator('h1:visible').first().waitFor();
    const moving = await phone.evaluate(
      () =>
        document
          .getAnimations()
          .filter((each) => each instanceof CSSAnimation && each.effect?.getComputedTiming().activeDuration !== 0)
          .length,
    );
    expect(moving).toBe(0);
  });
});
