/** The heartbeat of a page in the kiosk, painted or not. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { startHeartbeat } from '../../renderer/shared/heartbeat.ts';
import type { Heartbeat } from '../../service/contract/kiosk.ts';

/** @param frameMs null: the page is covered, and gets no frames */
const open = (frameMs: number | null) => {
  vi.useFakeTimers();
  let requests = 0;
  const request = (onFrame: () => void): void => {
    requests += 1;
    if (frameMs !== null) setTimeout(onFrame, frameMs);
  };
  const video = { paused: false, ended: false, currentTime: 0, requestVideoFrameCallback: request };
  const sent: Heartbeat[] = [];
  vi.stubGlobal('requestAnimationFrame', request);
  vi.stubGlobal('document', { hidden: false, querySelectorAll: () => [video] });
  vi.stubGlobal('kiosk', { heartbeat: (heartbeat: Heartbeat) => sent.push(heartbeat) });
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
  const sendSoon = startHeartbeat(() => ({ ready: true, slide: null, free: true }));
  return { sent, sendSoon, requests: () => requests };
};

it('of a covered page goes on, and requests one frame of the page and one of a film', async () => {
  const { sent, sendSoon, requests } = open(null);
  for (let minute = 0; minute < 10; minute += 1) {
    sendSoon();
    await vi.advanceTimersByTimeAsync(60_000);
  }
  expect(requests()).toBe(2);
  expect(sent).toHaveLength(10 * 21);
  expect(new Set(sent.map(({ frames, video }) => `${frames} ${video?.frames}`))).toEqual(new Set(['0 0']));
});

it('follows a change as soon as that is painted, and counts up to ten frames', async () => {
  const { sent, sendSoon } = open(16);
  await vi.advanceTimersByTimeAsync(40);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_000);
  sendSoon();
  await vi.advanceTimersByTimeAsync(40);
  expect(sent).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent).toHaveLength(4);
  expect(sent.slice(2)).toMatchObject(Array(2).fill({ frames: 10, video: { frames: 10 } }));
});
