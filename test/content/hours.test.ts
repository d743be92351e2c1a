/** Opening hours: in the file, for the kiosk, and never on the wire. */
import { expect, test } from 'vitest';
import { checkContent } from '../../service/content/validate.ts';
import { patience, payloadOf } from '../support/observe.ts';
import { startTestService } from '../support/service.ts';

const withHours = (hours: unknown) => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main', hours }],
  playlists: [{ id: 'main', slides: [{ kind: 'text', title: 'Hello' }] }],
});

const hours = [
  { days: [1, 2, 3, 4, 5], open: '08:00', close: '20:00' },
  { open: '09:00', close: '02:00' },
  { date: '2026-12-24', open: '08:00', close: '13:00' },
  { date: '2026-12-25' },
];

test('the kiosk gets the opening hours, also after a restart with an invalid file, and pages do not', async () => {
  const first = await startTestService({ content: withHours(hours) });
  expect(first.hours('lobby')).toEqual(hours);
  expect(first.hours('elsewhere')).toBeNull();
  const { screen, revision } = await payloadOf(first);
  expect(screen).not.toHaveProperty('hours');
  first.writeContent(withHours(hours.slice(0, 1)));
  await expect.poll(() => first.hours('lobby'), patience).toEqual(hours.slice(0, 1));
  expect((await payloadOf(first)).revision).toBe(revision);
  await first.close();

  const second = await startTestService({ content: '{', dataDir: first.dataDir });
  expect(second.hours('lobby')).toEqual(hours.slice(0, 1));
});

test.each([
  [[{ open: '8:00', close: '20:00' }]],
  [[{ open: '08:00' }]],
  [[{ days: [], open: '08:00', close: '20:00' }]],
  [[{ days: [0], open: '08:00', close: '20:00' }]],
  [[{ days: [1], date: '2026-12-24', open: '08:00', close: '20:00' }]],
  [[{ date: '2026-02-30' }]],
  ['08:00-20:00'],
])('%j is refused, with an example', (wrong) => {
  const reading = checkContent(Buffer.from(JSON.stringify(withHours(wrong))));
  expect(reading.ok).toBe(false);
  if (!reading.ok) expect(reading.issues[0]?.path).toMatch(/^screens\[0\]\.hours/);
});
