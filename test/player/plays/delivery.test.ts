/** How a page delivers its plays. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchOf, createPlayDelivery } from '../../../renderer/player/plays/delivery.ts';
import { MAX_PLAYS, type PagePlay, playsMessage } from '../../../service/contract/plays.ts';

const playOf = (id: number, more: Partial<PagePlay> = {}): PagePlay => ({
  play_id: String(id),
  screen: 'lobby',
  slide_id: 'film',
  slide_title: 'A film',
  kind: 'video',
  media_url: '/media/film.mp4',
  revision: 'r1',
  started_at: '2026-07-01T12:00:00.000Z',
  ended_at: '2026-07-01T12:00:08.000Z',
  duration_ms: 8_000,
  expected_ms: 8_000,
  result: 'played',
  reason: null,
  clock: 'synced',
  playlist_id: null,
  programme_id: null,
  zone: null,
  ...more,
});

const open = (count: number) => {
  let kept = Array.from({ length: count }, (_, id) => playOf(id));
  const sent: { at: number; ids: string[] }[] = [];
  let isReadable = true;
  /** Whether the service acknowledges, all or some of the plays. */
  let acknowledges: (ids: string[]) => string[] = (ids) => ids;
  const delivery = createPlayDelivery({
    store: {
      oldest: async (most) => {
        if (!isReadable) throw new Error('closed');
        return kept.slice(0, most);
      },
      remove: async (ids) => {
        kept = kept.filter(({ play_id }) => !ids.includes(play_id));
      },
    },
    send: (plays) => {
      const ids = plays.map(({ play_id }) => play_id);
      sent.push({ at: performance.now(), ids });
      setTimeout(() => delivery.onAck(acknowledges(ids)), 5);
      return true;
    },
  });
  return {
    delivery,
    sent,
    setReadable: (next: boolean) => {
      isReadable = next;
    },
    kept: () => kept.length,
    setAcknowledges: (next: typeof acknowledges) => {
      acknowledges = next;
    },
  };
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the delivery of plays', () => {
  it('sends all that are kept, oldest first, 50 at a time and 4 times a second at most', async () => {
    const { delivery, sent, kept } = open(1_020);
    delivery.onOpen();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent.flatMap(({ ids }) => ids)).toEqual(Array.from({ length: 1_020 }, (_, id) => String(id)));
    expect(Math.max(...sent.map(({ ids }) => ids.length))).toBe(50);
    expect(Math.min(...sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0)))).toBeGreaterThanOrEqual(250);
    expect(kept()).toBe(0);
  });

  it('goes on after plays could not be read', async () => {
    const { delivery, kept, setReadable } = open(1);
    setReadable(false);
    delivery.onOpen();
    await vi.advanceTimersByTimeAsync(1_000);
    setReadable(true);
    delivery.wake();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(kept()).toBe(0);
  });

  it('waits for an acknowledgement before it sends more, asks again ever more rarely, and forgets nothing', async () => {
    const { delivery, sent, kept, setAcknowledges } = open(60);
    setAcknowledges(() => []);
    delivery.onOpen();
    await vi.advanceTimersByTimeAsync(9_000);
    expect(sent).toHaveLength(1);
    delivery.wake();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(sent.length).toBeGreaterThan(5);
    expect(sent.length).toBeLessThan(25);
    expect(kept()).toBe(60);
    setAcknowledges((ids) => ids);
    await vi.advanceTimersByTimeAsync(301_000);
    expect(kept()).toBe(0);
  });

  it('keeps what is not acknowledged, and does not repeat it at full speed', async () => {
    const { delivery, sent, kept, setAcknowledges } = open(3);
    setAcknowledges((ids) => ids.filter((id) => id !== '0'));
    delivery.onOpen();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kept()).toBe(1);
    expect(sent.length).toBeLessThan(6);
  });

  it('sends again what a closed socket left unacknowledged', async () => {
    const { delivery, sent, setAcknowledges } = open(2);
    setAcknowledges(() => []);
    delivery.onOpen();
    await vi.advanceTimersByTimeAsync(1);
    delivery.onClose(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent).toHaveLength(1);
    delivery.onOpen();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent.map(({ ids }) => ids)).toEqual([
      ['0', '1'],
      ['0', '1'],
    ]);
  });

  it('pauses after a service that refuses the message, so that the page stays connected', async () => {
    const { delivery, sent, setAcknowledges } = open(2);
    setAcknowledges(() => []);
    for (let connection = 0; connection < 20; connection++) {
      delivery.onOpen();
      await vi.advanceTimersByTimeAsync(1_000);
      delivery.onClose(true);
    }
    expect(sent).toHaveLength(1);
    delivery.onOpen();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(sent.length).toBeGreaterThan(1);
  });

  it('drops a record that the service refuses, and no other', async () => {
    const { delivery, sent, kept, setAcknowledges } = open(40);
    setAcknowledges((ids) => {
      if (!ids.includes('20')) return ids;
      delivery.onClose(true);
      delivery.onOpen();
      return [];
    });
    delivery.onOpen();
    await vi.advanceTimersByTimeAsync(4 * 3_600_000);
    expect(kept()).toBe(0);
    expect(sent.filter(({ ids }) => ids.includes('20')).at(-1)?.ids).toEqual(['20']);
    expect(new Set(sent.flatMap(({ ids }) => ids)).size).toBe(40);
  });

  it('has messages that the socket takes, however long the texts are', () => {
    const long = playOf(1, { slide_id: 'ü'.repeat(500), slide_title: '語'.repeat(500), media_url: 'é'.repeat(4_096) });
    const batch = batchOf(Array.from({ length: 80 }, () => long));
    expect(batch.length).toBeGreaterThan(1);
    expect(Buffer.byteLength(JSON.stringify({ type: 'plays', plays: batch }))).toBeLessThan(256 * 1024);
    expect(playsMessage.safeParse({ type: 'plays', plays: batch }).success).toBe(true);
    expect(batchOf(Array.from({ length: MAX_PLAYS }, (_, id) => playOf(id)))).toHaveLength(MAX_PLAYS);
  });
});
