/** Which media are fetched from other boxes first, and what is said of those that cannot be fetched. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { createMediaTransfers, type Transfer } from '../../service/peers/media-transfers.ts';
import { unitContext } from './support.ts';

const GIB = 1024 ** 3;
const [one, two] = ['http://192.0.2.1:8080', 'http://192.0.2.2:8080'];

const transfer = (name: string, size: number, from: string[] = [one]): Transfer => ({
  medium: { name, size, sha256: '0'.repeat(64), modifiedAt: '2026-06-01T08:00:00.000Z' },
  from,
});

/** @param outcome of each fetch; default: none ever ends */
const setUp = (outcome = (): Promise<never> => new Promise(() => {})) => {
  const fetched: string[] = [];
  const held: { reason: string | null } = { reason: null };
  const ignore = vi.fn();
  const transfers = createMediaTransfers(unitContext(), {
    media: {
      unread: () => new Set(),
      heldReason: () => held.reason,
      replicate: ({ name }) => {
        fetched.push(name);
        return outcome();
      },
    },
    onFetched: ignore,
    onArrival: ignore,
    schedule: ignore,
  });
  return { transfers, fetched, held };
};

test('a small picture is fetched beside two films that one box alone has', () => {
  const { transfers, fetched } = setUp();
  const films = [transfer('one.mp4', 2 * GIB), transfer('two.mp4', 2 * GIB)];
  transfers.run(films);
  expect(fetched).toEqual(['one.mp4']);
  transfers.run([...films, transfer('offer.png', 9_000)]);
  expect(fetched).toEqual(['one.mp4', 'offer.png']);
});

test('small files are fetched before large ones, and films of two boxes at a time', () => {
  const { transfers, fetched } = setUp();
  transfers.run([
    transfer('long.mp4', 2 * GIB),
    transfer('other.mp4', 3 * GIB, [two]),
    transfer('short.mp4', GIB, [one, 'http://192.0.2.3:8080']),
    transfer('offer.png', 9_000),
  ]);
  expect(fetched).toEqual(['offer.png', 'short.mp4', 'other.mp4']);
});

test('films of many boxes leave room for a small picture', () => {
  const { transfers, fetched } = setUp();
  const films = [1, 2, 3, 4, 5].map((n) => transfer(`${n}.mp4`, n * GIB, [`http://192.0.2.${n}:8080`]));
  transfers.run(films);
  transfers.run([...films, transfer('offer.png', 9_000)]);
  expect(fetched).toEqual(['1.mp4', '2.mp4', '3.mp4', 'offer.png']);
});

test('a medium that could not be fetched twice is named with the reason, and not outside the hours for it', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { transfers, held } = setUp(() => Promise.reject(new Error('The disk is full.')));
  const plan = Array.from({ length: 12 }, (_, n) => transfer(`${n}.png`, 9_000 + n));
  const fail = async (): Promise<void> => {
    // A few at a time.
    for (let round = 0; round < 3; round += 1) {
      transfers.run(plan);
      await vi.advanceTimersByTimeAsync(0);
    }
  };
  await fail();
  expect(transfers.issues(plan)).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  await fail();
  const issues = transfers.issues(plan);
  expect(issues).toHaveLength(11);
  expect(issues[0]).toBe('A screen needs 0.png, which cannot be fetched from another box: The disk is full.');
  expect(issues[10]).toBe('2 more media cannot be fetched from another box.');
  expect(transfers.issues([])).toEqual([]);
  held.reason = 'is fetched between 22:00 and 06:00 only (SIGNAGE_FETCH_HOURS)';
  expect(transfers.issues(plan)).toEqual([]);
});
