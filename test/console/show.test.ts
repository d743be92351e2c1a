/** "Show now": every page of a screen goes to a slide, on all boxes; and the buttons of a screen. */
import { expect, test } from 'vitest';
import { startBox, untilTogether } from '../peers/support.ts';
import { itBrowser } from '../support/browser.ts';
import { patience, payloadOf } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import { startTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { openConsole } from './browser.ts';

const content = {
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome' },
    { name: 'Bar', slug: 'bar', playlist_id: 'welcome' },
    { name: 'Office', slug: 'office' },
  ],
  playlists: [
    { id: 'welcome', slides: ['hello', 'bye'].map((id) => ({ id, kind: 'text', title: id })) },
    { id: 'other', slides: [{ id: 'unused', kind: 'text', title: 'Unused' }] },
  ],
};

test('a slide is shown now on the pages of the screen, on all boxes', async () => {
  const env = secretSettings(operatorSecret);
  const first = await startBox([], { content, env });
  const second = await startBox([first], { content: undefined, env });
  await untilTogether([first, second]);
  await expect
    .poll(async () => (await payloadOf(second, 'lobby').catch(() => null))?.slides[0]?.id, patience)
    .toBe('hello');
  const ask = createOperator(second, operatorSecret);
  const join = async (box: typeof first, slug: string) =>
    joinScreen(box, slug, {}, { protocols: await protocolsOf(box, slug, operatorSecret) });
  const [here, there, elsewhere] = [await join(second, 'lobby'), await join(first, 'lobby'), await join(first, 'bar')];

  const answer = await ask('POST', '/console/api/screens/lobby/show', { slide_id: 'bye' });
  expect([answer.status, await answer.json()]).toEqual([200, { sent: 2, degraded: false }]);
  for (const page of [here, there]) {
    expect(await page.message(({ type }) => type === 'show')).toEqual({ type: 'show', slideId: 'bye' });
  }
  expect(elsewhere.messages.filter(({ type }) => type === 'show')).toEqual([]);

  const refused: [slug: string, body: object, status: number, code: string][] = [
    ['lobby', { slide_id: 'unused' }, 404, 'slide_not_found'],
    ['office', { slide_id: 'bye' }, 404, 'slide_not_found'],
    ['gate', { slide_id: 'bye' }, 404, 'screen_not_found'],
    ['lobby', {}, 400, 'missing_field'],
    ['lobby', { slide_id: 7 }, 400, 'invalid_field'],
  ];
  for (const [slug, body, ...refusal] of refused) {
    expect(await refusalOf(await ask('POST', `/console/api/screens/${slug}/show`, body))).toEqual(refusal);
  }
  const { records } = (await (await ask('GET', '/console/api/audit')).json()) as { records: Record<string, unknown>[] };
  expect(records.find(({ action, result }) => action === 'screen.show' && result === 'ok')).toMatchObject({
    target: 'lobby',
    after: { slide_id: 'bye' },
  });
});

itBrowser('of displays of which some are paused, these alone are resumed', walk, async () => {
  const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0' } });
  const pages = await Promise.all(
    ['one', 'two', 'three'].map((clientId) => joinScreen(service, 'lobby', { clientId })),
  );
  const commands = () => pages.map(({ messages }) => messages.filter(({ type }) => type === 'command').length);
  const { page, go } = await openConsole(service.url);
  await go('screens/lobby');
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect.poll(commands, patience).toEqual([1, 1, 1]);
  for (const paused of [pages[0], pages[2]])
    paused?.send({ type: 'state', currentSlide: 0, currentSlideId: 'hello', paused: true });
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Pause: sent to 2 displays').waitFor();
  expect(commands()).toEqual([2, 1, 2]);
});

itBrowser('what is sent to a display that has reloaded meanwhile reaches no other', async () => {
  const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0' } });
  const [first, second] = [
    await joinScreen(service, 'lobby', { clientName: 'One' }),
    await joinScreen(service, 'lobby', { clientName: 'Two' }),
  ];
  const { page, go } = await openConsole(service.url);
  const sent: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/commands')) sent.push(request.postDataJSON());
  });
  await go('screens/lobby');
  const choices = page.locator('.device-choice');
  const states = () => choices.locator('.state').allTextContents();
  await choices.nth(2).click();
  const name = await choices.nth(2).locator('.device-name').textContent();
  await page.getByRole('heading', { name: name ?? '' }).waitFor();
  const [stays, leaves] = name === 'Two' ? [first, second] : [second, first];
  leaves.socket.close();
  const door = { clientName: 'Again', deviceId: 'door-7' };
  const again = await joinScreen(service, 'lobby', door);
  await expect.poll(states, patience).toEqual(['Nothing to show', 'Nothing to show', 'Away']);
  await page.getByRole('button', { name: 'Black out' }).click();
  await page.getByText('This display is not connected').waitFor();
  expect(sent).toEqual([]);

  await choices.filter({ hasText: 'Again' }).click();
  await expect.poll(states, patience).toEqual(['Nothing to show', 'Nothing to show']);
  await page.getByRole('button', { name: 'Black out' }).click();
  await again.message(({ type }) => type === 'command');
  expect(sent).toMatchObject([{ connectionId: again.connectionId }]);
  // It is chosen still where it comes back as the same device.
  again.socket.close();
  const back = await joinScreen(service, 'lobby', door);
  await expect.poll(states, patience).toEqual(['Nothing to show', 'Nothing to show']);
  await page.getByRole('button', { name: 'Black out' }).click();
  await back.message(({ type }) => type === 'command');
  expect(sent).toMatchObject([{}, { connectionId: back.connectionId }]);
  expect(stays.messages.filter(({ type }) => type === 'command')).toEqual([]);
});

itBrowser('beyond the days whose slides are known, what plays is told by the programme', async () => {
  const on = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const service = await startTestService({
    content: {
      ...content,
      playlists: [
        ...content.playlists,
        { id: 'feast', name: 'Feast', slides: [{ id: 'cake', kind: 'text', title: 'Cake' }] },
      ],
      programmes: [
        { id: 'soon', playlist_id: 'other', targets: ['lobby'], dates: [on(7)] },
        { id: 'later', playlist_id: 'feast', targets: ['lobby'], dates: [on(20)] },
      ],
    },
    env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TIME_ZONE: 'UTC' },
  });
  const { page, go } = await openConsole(service.url);
  await go('screens/lobby');
  const at = page.getByLabel('At', { exact: true });
  await at.fill(`${on(7)}T12:00`);
  const planned = page.locator('.plan-title');
  await expect.poll(() => planned.allTextContents(), patience).toEqual(['Unused']);
  await at.fill(`${on(20)}T12:00`);
  await page.getByText(/12:00: Feast[.] Its slides are known for the next 8 days only/).waitFor();
  expect(await planned.count()).toBe(0);
  await at.fill(`${on(30)}T12:00`);
  await page.getByText(/12:00: welcome[.]/).waitFor();
});
