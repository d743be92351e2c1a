/** Frames of films: what pages count, what degrades the box, and what is exported. */
import { expect, test } from 'vitest';
import { createFrameCounter } from '../../renderer/player/frames.ts';
import { lobbyWith } from '../content/samples.ts';
import { healthOf, patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { shareTestService } from '../support/service.ts';

const box = shareTestService({ content: lobbyWith([{ id: 'film', kind: 'text', title: 'The film' }]) });

test('a display that drops more than a twentieth of its frames degrades the box, by the name of the slide', async () => {
  const page = await joinScreen(box(), 'lobby', { clientId: 'one', clientName: 'Front door' });
  const report = (decoded: number, dropped: number) => page.send({ type: 'video', slideId: 'film', decoded, dropped });
  const counted = async (): Promise<string[]> =>
    (await (await box().get('/metrics')).text()).match(/^signage_video_frames_total.*$/gm) ?? [];
  report(8, 8);
  await expect.poll(counted, patience).toContain('signage_video_frames_total{result="dropped"} 8');
  expect((await healthOf(box())).warnings).toEqual([]);
  report(242, 2);
  await expect
    .poll(counted, { ...patience, timeout: 5_000 })
    .toEqual(['signage_video_frames_total{result="decoded"} 250', 'signage_video_frames_total{result="dropped"} 10']);
  expect((await healthOf(box())).warnings).toEqual([]);
  report(200, 60);
  const expected = 'The display "Front door" dropped 13 % of the frames of the slide "The film" in the last minute.';
  await expect.poll(async () => (await healthOf(box())).warnings, patience).toEqual([expected]);
  expect((await healthOf(box())).status).toBe('degraded');
  page.socket.close();
  await expect.poll(async () => (await healthOf(box())).status, patience).toBe('ok');
});

test('frames are counted once, and a film that begins anew counts from the start', () => {
  const quality = { totalVideoFrames: 100, droppedVideoFrames: 4 };
  const video = { getVideoPlaybackQuality: () => ({ ...quality }) } as unknown as HTMLVideoElement;
  const count = createFrameCounter(() => [video]);
  const counted = [count(), count()];
  Object.assign(quality, { totalVideoFrames: 150, droppedVideoFrames: 5 });
  counted.push(count());
  Object.assign(quality, { totalVideoFrames: 20, droppedVideoFrames: 1 });
  counted.push(count());
  expect(counted).toEqual([
    { decoded: 96, dropped: 4 },
    { decoded: 0, dropped: 0 },
    { decoded: 49, dropped: 1 },
    { decoded: 19, dropped: 1 },
  ]);
});
