/** Bodies and templates that would hold up the page. */
import { expect, it } from 'vitest';
import { describeBrowser } from '../../support/browser.ts';
import { logged, payloadOf } from '../../support/observe.ts';
import { lobby, openPlayer, patience, sharePlayer } from '../../support/player.ts';
import { startTestService } from '../../support/service.ts';
import { repeats } from '../../support/soak.ts';

const fill = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length));

const textOf = (body: string) => lobby([{ id: 'rich', kind: 'text', title: 'Rich', body, duration_seconds: 3600 }]);

describeBrowser('main-thread time of less than a second', { timeout: 120_000 }, () => {
  const player = sharePlayer();

  /** Seconds that the page's main thread has worked since its first script. */
  const workOf = async (content: object, until: string): Promise<number> => {
    const { service, page } = player();
    const skipped = () => logged(service, 'a slide was skipped').length;
    const { revision } = await payloadOf(service);
    await page.goto('about:blank');
    service.writeContent(content);
    await expect.poll(async () => (await payloadOf(service)).revision, patience).not.toBe(revision);
    const before = skipped();
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const load = page.goto(`${service.url}/screen/lobby`);
    if (until === 'skipped') await expect.poll(skipped, patience).toBeGreaterThan(before);
    else await page.locator(until).waitFor({ timeout: 60_000 });
    await load;
    const { metrics } = await session.send('Performance.getMetrics');
    await session.detach();
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };

  it.each(
    [
      ['nothing but words', fill('word ', 7_900)],
      ['tables in tables', fill('<table><tr><td>', 1_400)],
      ['one word', 'x'.repeat(7_900)],
      ['paragraphs', fill('<p>one two ', 4_000)],
      ['lists in lists', fill('<ul><li>', 1_500)],
      ['bold words', fill('<b>x</b> ', 3_500)],
    ].slice(0, repeats(2, 6)),
  )('is all that it takes to show the most of %s', async (_, body = '') => {
    expect(await workOf(textOf(body), '.slide-text[data-state="playing"]')).toBeLessThan(1);
  });

  it.each(
    [
      [
        'elements that the parser repeats',
        `<p>${Array.from({ length: 190 }, (_, at) => `<b id=${at}>`).join('')}${fill('<p>x', 760)}`,
      ],
      ['80 kB of tags', fill('<table><tr><td>', 80_000)],
      ['20 kB of tags', fill('<p>x', 20_000)],
      ['80 kB of words', fill('word ', 80_000)],
    ].slice(0, repeats(1, 4)),
  )('is all that it takes to refuse %s', async (_, body = '') => {
    expect(await workOf(textOf(body), 'skipped')).toBeLessThan(1);
  });

  it.each(
    [
      ['repeats itself', '{% for i in (1..20000) %}<p>{{ i }}</p>{% endfor %}'],
      [
        'has the parser repeat elements',
        '<p>{% for i in (1..900) %}<b id={{ i }}>{% endfor %}{% for i in (1..900) %}<p>x{% endfor %}',
      ],
    ].slice(0, repeats(1, 2)),
  )('is all that it takes to refuse a template that %s', async (_, html = '') => {
    const slide = { kind: 'template', template_id: 't' };
    expect(await workOf(lobby([slide], { templates: [{ id: 't', html }] }), 'skipped')).toBeLessThan(1);
  });
});

describeBrowser('a slide that is too rich', () => {
  it('is skipped, and the reason says what is too much', async () => {
    const service = await startTestService({ content: textOf(fill('<p>x', 4_000)) });
    await openPlayer(service, 'lobby');
    await expect
      .poll(() => logged(service, 'a slide was skipped')[0]?.reason, patience)
      .toBe('the slide is too rich: it has 1000 elements, and more than 400 cannot be laid out');
  });
});
