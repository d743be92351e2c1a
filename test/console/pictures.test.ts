import { expect, onTestFinished, test, vi } from 'vitest';
import type { Client } from '../../renderer/console/api/client.ts';
import { Refusal, Unreachable } from '../../renderer/console/api/errors.ts';
import { createPictures } from '../../renderer/console/stores/pictures.ts';

test('a display without a picture is asked again after a minute: it may have shown its maintenance page', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const request = vi.fn(() => Promise.reject(new Refusal(409, { code: 'screenshot_unavailable' }, null)));
  const { photograph } = createPictures({ request } as never as Client);
  for (const [ms, asked] of [
    [0, 1],
    [59_000, 1],
    [1_000, 2],
  ] as const) {
    vi.advanceTimersByTime(ms);
    expect(await photograph('c1')).toBeNull();
    expect(request).toHaveBeenCalledTimes(asked);
  }
});

test('a thumbnail that was not there is asked for again, one that was is kept', async () => {
  const request = vi
    .fn()
    .mockRejectedValueOnce(new Refusal(404, { code: 'file_not_found' }, null))
    .mockRejectedValueOnce(new Unreachable('No answer came.'))
    .mockResolvedValue(new Response('picture'));
  const { thumbnail } = createPictures({ request } as never as Client);
  const found = [];
  for (let look = 0; look < 4; look += 1) found.push(await thumbnail('/media/hall.png'));
  expect(found).toEqual([null, null, expect.stringMatching(/^blob:/), found[2]]);
  expect(request).toHaveBeenCalledTimes(3);
});
