/** What a display of the kiosk shows is a play only while it can be seen. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ConnectionSnapshot } from '../../service/contract/connections.ts';
import type { Play } from '../../service/contract/plays.ts';
import { itDouble as it, patience, startKiosk } from '../support/kiosk.ts';
import { walk } from '../support/soak.ts';

const contentWith = (hours?: readonly object[]) => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main', ...(hours && { hours }) }],
  playlists: [
    {
      id: 'main',
      slides: ['a', 'b'].map((id) => ({ id, kind: 'text', title: id, duration_seconds: 0.5 })),
    },
  ],
});

it('a display that is closed plays on, and counts no plays', { ...walk, timeout: 120_000 }, async () => {
  const config = { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } };
  const kiosk = await startKiosk({ content: contentWith(), config });
  const url = await kiosk.url();
  const plays = async () => (await (await fetch(`${url}/console/api/plays`)).json()) as Play[];
  const slide = async () => {
    const answer = await fetch(`${url}/api/screens/lobby/connections`);
    return ((await answer.json()) as ConnectionSnapshot).connections[0]?.currentSlideId;
  };
  const edit = (content: object) => writeFileSync(join(kiosk.dataDir, 'content.json'), JSON.stringify(content));
  // A slow machine plays a slide or two before the page is shown.
  const seen = async () => {
    const reasons = (await plays()).map(({ reason }) => reason);
    return reasons.slice(reasons.findIndex((reason) => reason !== 'hidden'));
  };
  await expect.poll(async () => (await seen()).length, patience).toBeGreaterThan(2);
  expect(await seen()).not.toContain('hidden');

  const inThreeDays = ((new Date().getDay() + 2) % 7) + 1;
  edit(contentWith([{ days: [inThreeDays], open: '12:00', close: '12:01' }]));
  // The slide that was on when the screen closed may have been cut, or had its time.
  const countedInThreeSlides = async () => {
    const before = (await plays()).length;
    for (const id of ['a', 'b', 'a']) await expect.poll(slide, patience).toBe(id);
    return (await plays()).length - before;
  };
  await expect.poll(countedInThreeSlides, patience).toBe(0);
  const before = (await plays()).map(({ play_id }) => play_id);

  const reopenedAt = Date.now();
  edit(contentWith());
  await expect.poll(async () => (await plays()).length, patience).toBeGreaterThan(before.length + 1);
  const later = (await plays()).filter(({ play_id }) => !before.includes(play_id));
  for (const { started_at } of later) expect(Date.parse(started_at)).toBeGreaterThanOrEqual(reopenedAt);
});
