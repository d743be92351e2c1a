import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeBrowser } from '../../support/browser.ts';
import { putImage } from '../../support/media.ts';
import { logged } from '../../support/observe.ts';
import { patience, sharePlayer } from '../../support/player.ts';
import { walk } from '../../support/soak.ts';

describeBrowser('a template', () => {
  const player = sharePlayer();

  const openTemplate = (html: string, content = {}): Promise<Page> =>
    player().show([{ kind: 'template', template_id: 't', content }], { templates: [{ id: 't', html }] });

  it('keeps its style to itself', async () => {
    const page = await openTemplate('<style>* { color: rgb(1, 2, 3) !important }</style><p>Hello</p>');
    const colour = (of: Locator): Promise<string> => of.evaluate((element) => getComputedStyle(element).color);
    expect(await colour(page.getByText('Hello'))).toBe('rgb(1, 2, 3)');
    expect(await colour(page.locator('body'))).not.toBe('rgb(1, 2, 3)');
  });

  it('is rendered with the values of its content by their own names, but those of the player win', async () => {
    const html = '<p>{{ headline }} {{ content.headline }} {{ screen.slug }} {{ now | date: "%Y" | size }}</p>';
    const page = await openTemplate(html, { headline: 'Soup', screen: { slug: 'not this' }, now: 'never' });
    await expect.poll(() => page.locator('p').textContent(), patience).toBe('Soup Soup lobby 4');
  });

  it('tells the time each second, and touches nothing but the time', async () => {
    const html = '<p>Still</p><time>{{ now | date: "%s" }}</time>';
    const page = await openTemplate(html);
    const marked = await page.getByText('Still').evaluateHandle((element) => element);
    const time = page.locator('time');
    const before = Number(await time.textContent());
    await expect.poll(async () => Number(await time.textContent()), patience).toBeGreaterThan(before + 1);
    expect(await page.getByText('Still').evaluate((element, first) => element === first, marked)).toBe(true);
    expect(Math.abs(Number(await time.textContent()) - Date.now() / 1000)).toBeLessThan(5);
  });

  it('goes on moving while it tells the time', async () => {
    const html =
      '<style>@keyframes slide { to { transform: translateX(9px) } } p { animation: slide 60s linear }</style>' +
      '<p>{{ now | date: "%s" }}</p>';
    const page = await openTemplate(html);
    const moment = (): Promise<number> =>
      page.locator('p').evaluate((element) => Number(element.getAnimations()[0]?.currentTime ?? 0));
    await expect.poll(moment, patience).toBeGreaterThan(2500);
  });

  it('shows pictures of its own service and of its content, and leaves out those that are broken', async () => {
    const picture = putImage(player().service.dataDir, 'red.png', [220, 20, 20]);
    const html = '<img class="good" src="{{ content.picture }}"><img class="bad" src="/media/gone.png">{{ now }}';
    const page = await openTemplate(html, { picture });
    expect(await page.locator('.good').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(64);
    await expect
      .poll(() => page.locator('.bad').evaluate((image) => getComputedStyle(image).visibility), patience)
      .toBe('hidden');
  });

  it('plays nothing, frames nothing and takes no input', async () => {
    const html =
      '<h1>Here</h1><iframe src="/"></iframe><video src="x" autoplay></video><form><input autofocus></form>' +
      '<object data="/"></object><a href="javascript:alert(1)">x</a>';
    const page = await openTemplate(html);
    await page.getByText('Here').waitFor();
    expect(await page.locator('.slide-template :is(iframe, video, form, input, object)').count()).toBe(0);
    expect(await page.locator('.slide-template a').getAttribute('href')).toBeNull();
  });

  it('that is long and brings no sizes of its own is set smaller, so that all of it shows', async () => {
    const page = await openTemplate('<h1>List</h1>{% for n in (1..30) %}<p>Line {{ n }}</p>{% endfor %}');
    const over = await page.locator('main main').evaluate((main) => main.scrollHeight - main.clientHeight);
    expect(over).toBeLessThanOrEqual(0);
  });

  it('whose text becomes longer with the time is set smaller then, and larger again with less text', {
    ...walk,
    timeout: 90_000,
  }, async () => {
    const html =
      '{% assign phase = now | date: "%s" | modulo: 12 %}' +
      '<h1>{% if phase < 6 %}Free at {{ phase }}{% else %}{{ long }}{% endif %}</h1>';
    const page = await openTemplate(html, { long: 'A long title of an event. '.repeat(30) });
    const shown = () =>
      page.locator('main main').evaluate((main) => ({
        isLong: main.textContent.includes('A long title'),
        isCut: main.scrollHeight > main.clientHeight,
        isLarge: Number.parseFloat(getComputedStyle(main).fontSize) > 15,
      }));
    for (const isLong of [true, false, true])
      await expect.poll(shown, patience).toEqual({ isLong, isCut: false, isLarge: !isLong });
  });
});

describeBrowser('a template that can not be shown', { timeout: 60_000 }, () => {
  const player = sharePlayer();

  it('is skipped, and the reason says what is wrong', async () => {
    const wrong = {
      '{% nonsense %}': 'the template cannot be read: tag "nonsense" not found, line:1, col:1',
      '<p>\n{% if %}': 'the template cannot be read: invalid value expression: "", line:2, col:6',
      '<frameset><frame src="/"></frameset>': 'it is a frameset, which holds pages and nothing to show',
    };
    const templates = Object.keys(wrong).map((html, at) => ({ id: `t${at}`, html }));
    const bad = templates.map(({ id }) => ({ id, kind: 'template', template_id: id }));
    const { service, show } = player();
    await show([{ kind: 'text', title: 'Good', duration_seconds: 0.5 }, ...bad], { templates });
    for (const [at, reason] of Object.values(wrong).entries()) {
      const reasons = () =>
        logged(service, 'a slide was skipped').flatMap((line) => (line.slideId === `t${at}` ? [line.reason] : []));
      await expect.poll(() => reasons()[0], patience).toBe(reason);
    }
  });

  it.each([
    [
      'template',
      '<p onclick="alert(1)" title="on and on">Hello</p><img alt="" onerror=alert(1) src="/media/gone.png">',
    ],
    ['text', '<p onclick="alert(1)">Hello</p><b onmouseover=\'x\'>x</b>'],
  ])('of kind %s keeps its text and loses its event handlers without a word in the console', async (kind, body) => {
    const { page, show } = player();
    const violations: string[] = [];
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) violations.push(message.text());
    });
    const slide = { kind, template_id: kind === 'template' ? 't' : null, title: null, body };
    await show([slide], { templates: [{ id: 't', html: body }] });
    expect(await page.locator(`.slide-${kind} p`).textContent()).toBe('Hello');
    expect(await page.locator(`.slide-${kind} :is([onclick], [onerror], [onmouseover])`).count()).toBe(0);
    expect(violations).toEqual([]);
  });
});
