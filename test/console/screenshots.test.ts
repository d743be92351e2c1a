import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createScreenshots } from '../../service/console/boxes.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Displays `a` and `b`, whose pictures are made when the test says so. */
const start = () => {
  const asked: { deviceId: string; resolve: (jpeg: Uint8Array) => void; reject: (reason: Error) => void }[] = [];
  const take = createScreenshots({
    capture: (deviceId) =>
      ['a', 'b'].includes(deviceId)
        ? new Promise((resolve, reject) => asked.push({ deviceId, resolve, reject }))
        : null,
    now: Date.now,
    monotonicNow: () => performance.now(),
  });
  return { asked, take };
};

const jpegs = [Uint8Array.of(1), Uint8Array.of(2)] as const;

test('a display is photographed once in 5 s, and clients that ask meanwhile get that picture', async () => {
  const { asked, take } = start();
  const first = [take('a'), take('a')];
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(jpegs[0]);
  const [one, two] = await Promise.all(first);
  expect(one?.jpeg).toBe(jpegs[0]);
  expect(two).toBe(one);

  vi.advanceTimersByTime(4_900);
  expect(await take('a')).toBe(one);
  const other = take('b');
  expect(asked.map(({ deviceId }) => deviceId)).toEqual(['a', 'b']);
  asked[1]?.resolve(jpegs[1]);
  expect((await other).jpeg).toBe(jpegs[1]);

  vi.advanceTimersByTime(200);
  const later = take('a');
  expect(asked).toHaveLength(3);
  asked[2]?.resolve(jpegs[1]);
  expect((await later).capturedAt > (one?.capturedAt ?? '')).toBe(true);
});

test('a display that can not be photographed within 2 s is given up, and not asked again while it hangs', async () => {
  const { asked, take } = start();
  const late = take('a').catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await late).toMatchObject({ code: 'screenshot_timeout', status: 504 });
  await vi.advanceTimersByTimeAsync(10_000);
  const again = take('a');
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(jpegs[0]);
  expect((await again).jpeg).toBe(jpegs[0]);
  const fresh = take('a');
  expect(asked).toHaveLength(2);
  asked[1]?.reject(new Error('the page has not painted'));
  await expect(fresh).rejects.toMatchObject({ code: 'screenshot_timeout' });
});

test('a device that is no display can not be photographed', async () => {
  await expect(start().take('c')).rejects.toMatchObject({ code: 'screenshot_unavailable', status: 409 });
});
