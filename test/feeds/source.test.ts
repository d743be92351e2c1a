import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Answer } from '../../service/feeds/fetch.ts';
import type { Reader } from '../../service/feeds/reader.ts';
import { openSource } from '../../service/feeds/source.ts';
import { createTurns } from '../../service/outbound/turns.ts';

const DAY_MS = 86_400_000;

test.each([1, 30, 365])('a source that is to be asked every %d days is asked no more often', async (days) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const validators = { etag: null, lastModified: null };
  const fetch = async (url: string): Promise<Answer> => {
    asked += 1;
    return { changed: true, nearness: 0, body: Buffer.from('{}'), charset: null, base: url, validators };
  };
  const source = openSource(
    { kind: 'api', id: 'x', url: 'http://a.example/', refreshSeconds: days * 86_400, select: null },
    null,
    {
      fetch,
      reader: { data: async () => ({}) } as unknown as Reader,
      turns: createTurns({ total: 8, perHost: 2, gapMs: 0 }),
      log: pino({ level: 'silent' }),
      now: Date.now,
      random: () => 0,
      onChange: () => {},
    },
  );
  onTestFinished(source.close);
  await vi.advanceTimersByTimeAsync(days * DAY_MS);
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(days * DAY_MS);
  expect(asked).toBe(2);
});
