/** A medium that is deleted, but whose file cannot be removed yet. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Media } from '../../service/media/index.ts';
import { createMediaReplication } from '../../service/peers/media-replication.ts';
import { unitContext } from './support.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('is not looked for again and again', async () => {
  const deletedAt = Date.now();
  const modifiedAt = new Date(deletedAt - 1_000).toISOString();
  const list = vi.fn(async () => [{ name: 'busy.jpg', size: 1, sha256: '0'.repeat(64), modifiedAt }]);
  const ignore = (): void => {};
  const media = {
    list,
    unread: () => new Set(),
    heldReason: () => null,
    onLearn: ignore,
    onFetchHours: ignore,
    deletions: {
      list: () => [],
      at: () => deletedAt,
      digest: () => '',
      redate: async () => false,
      onDelete: ignore,
      withRenamed: (names: ReadonlySet<string>) => names,
    },
  } as unknown as Media;
  const replication = createMediaReplication(unitContext(), {
    peers: {
      alive: () => [],
      find: () => undefined,
      onState: ignore,
      onReachabilityChange: ignore,
    },
    announce: async () => {},
    asking: { ask: vi.fn() },
    content: { document: () => null, mediaNames: () => new Set(), onDocument: ignore, onChange: ignore },
    media,
    misdated: { note: ignore },
    siteTime: { now: Date.now, isEstablished: () => true, timeOfDay: Date.now, isConfirmed: () => true },
    absence: { isPending: async () => false, end: async () => false, issues: () => [], start: ignore, close: ignore },
    onArrival: ignore,
  });
  await replication.scan();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(list).toHaveBeenCalledTimes(1);
  replication.close();
});
