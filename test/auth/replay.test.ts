/** Requests, steps of the clock, restarts and kills in any order: nothing is accepted twice. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createReplayGuard, type ReplayGuard } from '../../service/auth/replay.ts';
import { repeats } from '../support/soak.ts';
import { createClock, createMemoryStore, outcome } from './support.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const sender = { kind: 'operator', name: '192.0.2.1' } as const;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearInterval'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A box that can be stopped, killed and started again. */
const createBox = async () => {
  const clock = createClock();
  const store = createMemoryStore(clock.now());
  let guard: ReplayGuard;
  let count = 0;
  const settle = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(0));
  const start = async (): Promise<void> => {
    guard = createReplayGuard({ store, now: clock.now, machineNow: clock.monotonicNow });
    await settle();
  };
  const request = async (timestamp: number, nonce = `nonce ${count++}`) => {
    if (!guard.isFresh(timestamp)) return { nonce, timestamp, said: 'signature_stale' };
    const using = outcome(() => guard.use(nonce, timestamp, sender));
    const lead = timestamp - clock.now();
    if (lead > 0 && lead <= 50) clock.pass(lead);
    await vi.advanceTimersByTimeAsync(50);
    return { nonce, timestamp, said: await using };
  };
  await start();
  return {
    clock,
    store,
    request,
    start,
    guard: () => guard,
    stop: () => guard.close(),
    /** A killed process writes nothing any more. */
    kill: () => vi.clearAllTimers(),
    pass: async (ms: number) => {
      // In steps of the saving interval, so that each save reads the clock of its time.
      for (let rest = ms; rest > 0; rest -= 10 * second) {
        const step = Math.min(rest, 10 * second);
        clock.pass(step);
        await vi.advanceTimersByTimeAsync(step);
      }
    },
  };
};

type Move = { do: 'pass' | 'step' | 'stop' | 'request'; ms: number } | { do: 'kill' };

const any = fc.oneof(
  fc.integer({ min: -2 * minute, max: 2 * minute }),
  fc.integer({ min: -6 * minute, max: 6 * minute }),
  fc.integer({ min: -2 * hour, max: 2 * hour }),
);
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('request' as const),
      ms: fc.integer({ min: -310 * second, max: 310 * second }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('request' as const), ms: fc.constant(0) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(8 * minute) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('step' as const), ms: any }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), ms: any }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const) }) },
);

test('no request is accepted twice, across arbitrary clock steps and restarts', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 60 }), async (moves) => {
      const box = await createBox();
      const done: { nonce: string; timestamp: number }[] = [];
      const replayAll = async (): Promise<void> => {
        for (const { nonce, timestamp } of done) {
          expect((await box.request(timestamp, nonce)).said).not.toBe('accepted');
        }
      };
      for (const each of moves) {
        if (each.do === 'kill') {
          box.kill();
          // No process starts within the millisecond in which another was killed.
          box.clock.pass(1);
          await box.start();
        } else if (each.do === 'pass') await box.pass(each.ms);
        else if (each.do === 'step') box.clock.step(each.ms);
        else if (each.do === 'stop') {
          await box.stop();
          box.clock.step(each.ms);
          await box.start();
        } else {
          const { said, ...made } = await box.request(box.clock.now() + each.ms);
          if (said === 'accepted') done.push(made);
        }
        if (each.do !== 'request') await replayAll();
      }
      accepted += done.length;
      await box.stop();
    }),
    { numRuns: repeats(25, 1_000, 'SIGNAGE_TEST_REPLAY_RUNS') },
  );
  expect(accepted).toBeGreaterThan(60);
}, 60_000);

test.each([0, 4 * second])(
  'a step back before a kill makes nothing fresh again, %i ms after the last save',
  async (ms) => {
    const box = await createBox();
    box.clock.pass(ms);
    box.clock.step(50);
    const { timestamp, nonce, said } = await box.request(box.clock.now());
    expect(said).toBe('accepted');
    box.clock.step(-ms - 51);
    box.kill();
    box.clock.pass(1);
    await box.start();
    expect((await box.request(timestamp, nonce)).said).not.toBe('accepted');
  },
);

test('after a kill, a request of that moment is accepted', async () => {
  const box = await createBox();
  await box.pass(34 * second);
  box.kill();
  box.clock.pass(100);
  await box.start();
  // A service needs longer than that to start listening.
  box.clock.pass(11);
  expect((await box.request(box.clock.now())).said).toBe('accepted');
});

describe('after a restart', () => {
  test('a request with a future timestamp is not accepted again, and new ones are', async () => {
    const box = await createBox();
    const early = await box.request(box.clock.now() + 200 * second);
    expect(early.said).toBe('accepted');
    box.kill();
    await box.start();
    expect((await box.request(early.timestamp, early.nonce)).said).toBe('signature_replayed');
    expect((await box.request(early.timestamp)).said).toBe('accepted');
  });

  test('no timestamp before the highest reading is accepted if the clock was set back', async () => {
    const box = await createBox();
    await box.pass(100 * second);
    const { timestamp, nonce, said } = await box.request(box.clock.now());
    expect(said).toBe('accepted');
    await box.stop();
    box.clock.step(-60 * second);
    await box.start();
    expect((await box.request(timestamp - 1)).said).toBe('signature_stale');
    expect((await box.request(timestamp, nonce)).said).toBe('signature_replayed');
    expect((await box.request(timestamp + 1)).said).toBe('accepted');
    expect(box.guard().clock()).toBe(timestamp);
  });

  test('the saved reading is at most ten seconds old if the box was killed', async () => {
    const box = await createBox();
    await box.pass(95 * second);
    box.kill();
    expect(box.store.read().highest).toBe(box.clock.now() - 5 * second);
  });
});

describe('a clock that was in the wrong year', () => {
  test.each([
    ['while the box ran', async (box: Awaited<ReturnType<typeof createBox>>) => box.clock.step(-10 * 365 * 24 * hour)],
    [
      'before the box was started',
      async (box: Awaited<ReturnType<typeof createBox>>) => {
        await box.stop();
        box.clock.step(-10 * 365 * 24 * hour);
        await box.start();
      },
    ],
  ])('and is set %s locks nobody out', async (_, set) => {
    const box = await createBox();
    await box.pass(hour);
    const { timestamp, nonce, said } = await box.request(box.clock.now());
    expect(said).toBe('accepted');
    await set(box);
    expect((await box.request(box.clock.now())).said).toBe('accepted');
    expect(box.guard().faults()).toEqual([]);
    await box.stop();
    box.clock.step(10 * 365 * 24 * hour);
    await box.start();
    expect((await box.request(timestamp, nonce)).said).not.toBe('accepted');
  });
});

test('a clock that is set back into spent time refuses requests, and the fault says until when', async () => {
  const box = await createBox();
  await box.pass(2 * hour);
  expect((await box.request(box.clock.now())).said).toBe('accepted');
  const until = box.clock.now() + 1;
  box.clock.step(-hour);
  expect((await box.request(box.clock.now())).said).toBe('signature_stale');
  expect(box.guard().faults()).toEqual([
    `the clock was set back: signed requests are refused until it is ${new Date(until).toISOString()}, so that none is replayed`,
  ]);
  await box.pass(hour + second);
  expect((await box.request(box.clock.now())).said).toBe('accepted');
  expect(box.guard().faults()).toEqual([]);
});

describe('requests with future timestamps', () => {
  test('by at most 50 ms wait for the clock and cause no write', async () => {
    const box = await createBox();
    const before = box.store.writes();
    for (let count = 0; count < 20; count++) {
      expect((await box.request(box.clock.now() + 50)).said).toBe('accepted');
    }
    expect(box.store.writes()).toBe(before);
  });

  test('are refused if the disk cannot be written, and other requests are not', async () => {
    const box = await createBox();
    box.store.breakDown();
    const early = await box.request(box.clock.now() + minute);
    expect(early.said).toBe('busy');
    expect((await box.request(early.timestamp, early.nonce)).said).toBe('signature_replayed');
    expect((await box.request(box.clock.now())).said).toBe('accepted');
  });
});
