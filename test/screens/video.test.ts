/** Frames of films: what pages count, what degrades the box, and what is exported. */
import { expect, it, test } from 'vitest';
import { createFrameCounter } from '../../renderer/player/frames.ts';
import { lobbyWith } from '../content/samples.ts';
import { describeBrowser } from '../support/browser.ts';
import { putVideo } from '../support/media.ts';
import { healthOf, patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { openPlayer, waitForConnection } from '../support/player.ts';
import { shareTestService, startTestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const films = lobbyWith([{ id: 'film', kind: 'text', title: 'The film' }]);
const box = shareTestService({ content: films });

test('a display that drops more than a twentieth of its frames degrades the box, by the name of the slide', async () => {
  // Frames are counted from the start of a service.
  const service = await startTestService({ content: films });
  const page = await joinScreen(service, 'lobby', { clientId: 'one', clientName: 'Front door' });
  const report = (decoded: number, dropped: number) => page.send({ type: 'video', slideId: 'film', decoded, dropped });
  const counted = async (): Promise<string[]> =>
    (await (await service.get('/metrics')).text()).match(/^signage_video_frames_total.*$/gm) ?? [];
  report(8, 8);
  await expect.poll(counted, patience).toContain('signage_video_frames_total{result="dropped"} 8');
  expect((await healthOf(service)).warnings).toEqual([]);
  report(242, 2);
  await expect
    .poll(counted, { ...patience, timeout: 5_000 })
    .toEqual(['signage_video_frames_total{result="decoded"} 250', 'signage_video_frames_total{result="dropped"} 10']);
  expect((await healthOf(service)).warnings).toEqual([]);
  report(200, 60);
  const expected = 'The display "Front door" dropped 13 % of the frames of the slide "The film" in the last minute.';
  await expect.poll(async () => (await healthOf(service)).warnings, patience).toEqual([expected]);
  expect((await healthOf(service)).status).toBe('degraded');
  page.socket.close();
  await expect.poll(async () => (await healthOf(service)).status, patience).toBe('ok');
});

test('the slide is named that dropped most frames in all, not in one report', async () => {
  const page = await joinScreen(box(), 'lobby', { clientId: 'two', clientName: 'Back door' });
  page.send({ type: 'video', slideId: 'other', decoded: 100, dropped: 30 });
  for (let times = 0; times < 2; times += 1) page.send({ type: 'video', slideId: 'film', decoded: 100, dropped: 20 });
  const expected = 'The display "Back door" dropped 19 % of the frames of the slide "The film" in the last minute.';
  await expect.poll(async () => (await healthOf(box())).warnings, patience).toEqual([expected]);
  page.socket.close();
});

test('frames are counted once, for their slide, and a film that begins anew counts from the start', () => {
  let isHidden = false;
  const filmOf = (slide: string | undefined) => {
    const quality = { totalVideoFrames: 0, droppedVideoFrames: 0 };
    const video = { dataset: { slide }, getVideoPlaybackQuality: () => ({ ...quality }) };
    return {
      video: video as unknown as HTMLVideoElement,
      become: (totalVideoFrames: number, droppedVideoFrames: number) =>
        Object.assign(quality, { totalVideoFrames, droppedVideoFrames }),
    };
  };
  const { look, take } = createFrameCounter(() => isHidden);
  const [one, two] = [filmOf('one'), filmOf('two')];
  const after = (...films: (typeof one)[]) => {
    for (const { video } of films) look(video);
    return take();
  };
  one.become(100, 4);
  expect(after(one, two)).toEqual([{ slideId: 'one', decoded: 96, dropped: 4 }]);
  expect(after(one)).toEqual([]);
  one.become(150, 5);
  two.become(10, 10);
  expect(after(one, two)).toEqual([
    { slideId: 'one', decoded: 49, dropped: 1 },
    { slideId: 'two', decoded: 0, dropped: 10 },
  ]);
  one.become(20, 1);
  look(one.video);
  // Looked at twice before it is reported, as one that ends.
  one.become(30, 1);
  expect(after(one)).toEqual([{ slideId: 'one', decoded: 29, dropped: 1 }]);
  isHidden = true;
  one.become(60, 31);
  expect(after(one)).toEqual([]);
  isHidden = false;
  one.become(70, 32);
  expect(after(one, filmOf(undefined))).toEqual([{ slideId: 'one', decoded: 9, dropped: 1 }]);
});

describeBrowser('a film', { timeout: 60_000 }, () => {
  it('that is over before anybody looks is counted, for its own slide', walk, async () => {
    const dataDir = temporaryFolder();
    const film = { id: 'short', kind: 'video', media_url: putVideo(dataDir, 'short.mp4', [20, 90, 200], 2) };
    const after = { id: 'after', kind: 'text', title: 'After', duration_seconds: 3_600 };
    const service = await startTestService({ dataDir, content: lobbyWith([film, after]) });
    const page = await openPlayer(service, 'lobby', { width: 320, height: 180 });
    const sent: string[] = [];
    page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => {
        if (String(payload).includes('"type":"video"')) sent.push(String(payload));
      }),
    );
    await page.reload();
    await waitForConnection(service, 'lobby', { currentSlideId: 'after' });
    await expect
      .poll(() => sent.map((each) => JSON.parse(each)), patience)
      .toEqual([{ type: 'video', slideId: 'short', decoded: expect.any(Number), dropped: expect.any(Number) }]);
    const { decoded, dropped } = JSON.parse(sent[0] ?? '');
    expect(decoded + dropped).toBeGreaterThan(25);
  });
});
