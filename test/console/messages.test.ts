/** Saved messages, and takeovers that last until they are ended. */
import { expect, test } from 'vitest';
import type { Takeover } from '../../service/contract/console/takeovers.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { patience, payloadOf } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';

const content = {
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'welcome' }],
  playlists: [{ id: 'welcome', slides: [{ id: 'hello', kind: 'text', title: 'Hello' }] }],
  messages: [
    { id: 'fire', title: 'Fire', body: 'Leave the house.', level: 'emergency', media_url: null, minutes: null },
    { id: 'lunch', level: 'info', media_url: '/media/lunch.png', minutes: 30 },
  ],
};
const env = secretSettings(operatorSecret);
const alarm = { targets: ['all'], level: 'emergency', title: 'Fire', until: null };

test('an emergency lasts until it is ended, on all boxes', async () => {
  const first = await startBox([], { content, env });
  const second = await startBox([first], { content: undefined, env });
  await untilTogether([first, second]);
  const ask = createOperator(first, operatorSecret);

  const started = await ask('PUT', '/console/api/takeovers/message-fire', alarm);
  expect([started.status, ((await started.json()) as Takeover).until]).toEqual([201, null]);
  const leading = async (box: typeof first) => (await payloadOf(box, 'lobby')).slides[0];
  await expect
    .poll(() => leading(second).catch(() => null), patience)
    .toMatchObject({ id: 'takeover-message-fire', schedule_mode: 'between', schedule_end_datetime: null });

  expect((await createOperator(second, operatorSecret)('DELETE', '/console/api/takeovers/message-fire')).status).toBe(
    204,
  );
  await expect.poll(() => leading(first), patience).toMatchObject({ id: 'hello' });

  const refused: [changes: object, code: string][] = [
    [{ level: 'warning' }, 'invalid_field'],
    [{ level: 'info' }, 'invalid_field'],
    [{ until: undefined }, 'missing_field'],
  ];
  for (const [changes, code] of refused) {
    const answer = await ask('PUT', '/console/api/takeovers/message-fire', { ...alarm, ...changes });
    expect(await refusalOf(answer)).toEqual([400, code]);
    expect(await answer.json()).toMatchObject({ error: { field: 'until' } });
  }
});

test('the content keeps messages, and refuses those that cannot be shown', async () => {
  const service = await startBox([], { content, env });
  const ask = createOperator(service, operatorSecret);
  const check = async (message: object) => {
    const messages = [{ id: 'a', title: 'A', level: 'info', minutes: 5, ...message }];
    const answer = await ask('POST', '/console/api/content/check', { ...content, messages });
    return ((await answer.json()) as { errors: { path: string }[] }).errors.map(({ path }) => path);
  };
  expect(await check({})).toEqual([]);
  expect(await check({ level: 'emergency', minutes: null })).toEqual([]);
  expect(await check({ title: 'x'.repeat(501) })).toEqual([]);
  expect(await check({ level: 'warning', minutes: null })).toEqual(['messages[0].minutes']);
  expect(await check({ minutes: undefined })).toEqual(['messages[0].minutes']);
  expect(await check({ minutes: 0 })).toEqual(['messages[0].minutes']);
  expect(await check({ title: ' ' })).toEqual(['messages[0].title']);
  expect(await check({ level: 'panic' })).toEqual(['messages[0].level']);
  expect(await check({ id: 'Fire!' })).toEqual(['messages[0].id']);
  expect(await check({ media_url: '/media/a.pdf' })).toEqual(['messages[0].media_url']);
  const { content: playing } = (await (await ask('GET', '/console/api/content')).json()) as { content: object };
  expect(playing).toMatchObject({ messages: content.messages });
});
