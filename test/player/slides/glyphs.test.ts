/** Text that no font of the machine has: /healthz says what to install. */
import { expect, it, test } from 'vitest';
import { describeBrowser } from '../../support/browser.ts';
import { healthOf } from '../../support/observe.ts';
import { joinScreen } from '../../support/page.ts';
import { lobby, openPlayer, patience } from '../../support/player.ts';
import { startTestService } from '../../support/service.ts';

/** Kirat Rai, a script of 2024: no common font has it. */
const unknown = '\u{16D43}\u{16D44}';

describeBrowser('a page', () => {
  it.each([
    ['a text', { kind: 'text', title: 'Names', body: `Łódź, naïve – “quoted” ${unknown} →` }, {}],
    [
      'a template',
      { kind: 'template', title: 'Names', template_id: 't', content: { name: unknown } },
      { templates: [{ id: 't', html: '<p>{{ name }}</p>' }] },
    ],
  ])('reports what it has no glyphs for in %s, until the text is another', async (_, slide, more) => {
    const service = await startTestService({ content: lobby([{ id: 'a', ...slide }], more) });
    await openPlayer(service, 'lobby');
    const warnings = async () => (await healthOf(service)).warnings;
    await expect
      .poll(warnings, patience)
      .toEqual([
        `A page of the screen "lobby" has no font for ${unknown} in the slide "Names": install fonts-noto-core.`,
      ]);
    expect((await healthOf(service)).status).toBe('ok');
    service.writeContent(lobby([{ id: 'a', kind: 'text', title: 'Łódź' }]));
    await expect.poll(warnings, patience).toEqual([]);
  });
});

test.each([
  ['日本', 'fonts-noto-cjk'],
  ['🍰', 'fonts-noto-color-emoji'],
  ['한🍰', 'fonts-noto-cjk and fonts-noto-color-emoji'],
  ['ꯀ', 'fonts-noto-core'],
])('for %s the fonts to install are %s', async (characters, fonts) => {
  const service = await startTestService({ content: lobby([{ id: 'a', kind: 'text', title: 'Hello' }]) });
  const page = await joinScreen(service, 'lobby');
  page.send({ type: 'glyphs', slideId: 'a', characters });
  page.send({ type: 'glyphs', slideId: 'no slide', characters });
  await expect
    .poll(async () => (await healthOf(service)).warnings, patience)
    .toEqual([`A page of the screen "lobby" has no font for ${characters} in the slide "Hello": install ${fonts}.`]);
  page.socket.close();
  await expect.poll(async () => (await healthOf(service)).warnings, patience).toEqual([]);
});
