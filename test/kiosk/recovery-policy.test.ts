import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideRecovery,
  gpuLost,
  initialRecoveryState,
  limits,
  memoryBudget,
  type RecoveryEvent,
  type RecoveryState,
  type RecoveryStep,
} from '../../main/windows/recovery-policy.ts';
import type { Heartbeat } from '../../service/public.ts';

const budget = { soft: 1000, hard: 2000 };
const still: Heartbeat = { frames: 10, ready: true, hidden: false, slide: 'a', free: true, video: null };
const film = (time: number, frames: number): Heartbeat => ({ ...still, video: { time, frames } });
const heartbeat = (changed: Partial<Heartbeat> = {}): RecoveryEvent => ({
  type: 'heartbeat',
  heartbeat: { ...still, ...changed },
});
const lost: RecoveryEvent = { type: 'lost', reason: 'crashed' };
const opened: RecoveryEvent = { type: 'opened' };

type Story = [seconds: number, event: RecoveryEvent][];

/** What is done in the course of a story, looked at once a second; pages open as they are asked for. */
const tell = (story: Story, untilSeconds = 0): [seconds: number, to: RecoveryStep['to']][] => {
  let state: RecoveryState = initialRecoveryState(0);
  const steps: [number, RecoveryStep['to']][] = [];
  const happen = (seconds: number, event: RecoveryEvent): void => {
    const [next, step] = decideRecovery(state, event, seconds * 1000, budget);
    state = next;
    if (step === null) return;
    steps.push([seconds, step.to]);
    if (step.to === 'recreate' || step.to === 'reload') happen(seconds, opened);
  };
  const end = Math.max(untilSeconds, ...story.map(([seconds]) => seconds));
  for (let second = 0; second <= end; second++) {
    for (const [, event] of story.filter(([at]) => at === second)) happen(second, event);
    happen(second, { type: 'tick' });
  }
  return steps;
};

/** The same event every three seconds. */
const steadily = (from: number, to: number, make: (second: number) => RecoveryEvent): Story =>
  Array.from({ length: Math.floor((to - from) / 3) + 1 }, (_, index) => [from + index * 3, make(from + index * 3)]);

describe('the state', () => {
  it.each<[string, Story, number, [number, string][]]>([
    ['nothing, for a page that paints', [[0, opened], ...steadily(1, 120, () => heartbeat())], 120, []],
    [
      'a new page where one crashed',
      [[0, opened], [1, heartbeat()], [2, lost], ...steadily(3, 30, () => heartbeat())],
      30,
      [[2, 'recreate']],
    ],
    ['a new page where one never came up', [[0, opened]], 40, [[31, 'recreate']]],
    [
      'twice the time for each page after one that never came up, up to 4 minutes, and then the whole app once more',
      [[0, opened]],
      470,
      [
        [31, 'recreate'],
        [92, 'recreate'],
        [213, 'recreate'],
        [454, 'relaunch'],
      ],
    ],
    [
      'the time that a slow machine needs, again for its next page',
      [[0, opened], [80, heartbeat()], [81, lost], [180, heartbeat()], ...steadily(181, 190, () => heartbeat())],
      190,
      [
        [31, 'recreate'],
        [81, 'recreate'],
      ],
    ],
    [
      'a new page where one fell silent: three heartbeats are missing',
      [
        [0, opened],
        [3, heartbeat()],
      ],
      20,
      [[16, 'recreate']],
    ],
    [
      'more time for everything on a machine that needs 25 s for the start of a page',
      [
        [0, opened],
        [25, heartbeat()],
      ],
      60,
      [[46, 'recreate']],
    ],
    [
      'a new page where no frame was painted for 20 s',
      [[0, opened], [1, heartbeat()], ...steadily(3, 40, () => heartbeat({ frames: 0 }))],
      24,
      [[22, 'recreate']],
    ],
    [
      'nothing, where the page is hidden',
      [[0, opened], ...steadily(1, 60, () => heartbeat({ frames: 0, hidden: true }))],
      60,
      [],
    ],
    ['nothing, where a film runs', [[0, opened], ...steadily(1, 60, (second) => heartbeat(film(second, 10)))], 60, []],
    [
      'a new page where a film stands still',
      [[0, opened], ...steadily(1, 25, () => heartbeat(film(7, 0)))],
      25,
      [[22, 'recreate']],
    ],
    [
      'a new page where a film runs unseen',
      [[0, opened], ...steadily(1, 25, (second) => heartbeat(film(second, 0)))],
      25,
      [[22, 'recreate']],
    ],
    [
      'nothing, where each film is another',
      [[0, opened], ...steadily(1, 60, (second) => heartbeat({ ...film(0, 0), slide: `${second}` }))],
      60,
      [],
    ],
    [
      'the local page at the third fault in a minute, and back after 10 s',
      [
        [0, opened],
        [1, heartbeat()],
        [2, lost],
        [20, heartbeat()],
        [25, lost],
        [26, heartbeat()],
        [27, lost],
        ...steadily(38, 50, () => heartbeat()),
      ],
      50,
      [
        [2, 'recreate'],
        [25, 'recreate'],
        [27, 'fallback'],
        [37, 'recreate'],
      ],
    ],
    [
      'a new page each time, where faults are more than a minute apart',
      [
        [0, opened],
        ...[0, 70, 140, 210].flatMap(
          (from): Story => [
            ...steadily(from + 1, from + 58, () => heartbeat()),
            [from + 60, lost],
            ...steadily(from + 61, from + 70, () => heartbeat()),
          ],
        ),
      ],
      279,
      [
        [60, 'recreate'],
        [130, 'recreate'],
        [200, 'recreate'],
        [270, 'recreate'],
      ],
    ],
  ])('does %s', (_, story, until, steps) => {
    expect(tell(story, until)).toEqual(steps);
  });

  it('waits longer on each local page, and restarts the app at the fifth in an hour', () => {
    let state = initialRecoveryState(0);
    const waits: number[] = [];
    let now = 0;
    for (;;) {
      const [failed, step] = decideRecovery(state, lost, now, budget);
      state = failed;
      if (step?.to === 'relaunch') break;
      if (step?.to === 'fallback') {
        waits.push(step.ms / 1000);
        now += step.ms;
        state = { ...state, tickedAt: now - 1000 };
        const [back, again] = decideRecovery(state, { type: 'tick' }, now, budget);
        expect(again?.to).toBe('recreate');
        state = back;
      } else now += 1000;
    }
    expect(waits).toEqual([10, 30, 90, 270]);
  });

  it('forgets local pages after an hour', () => {
    const state = { ...initialRecoveryState(0), fallbacks: [0, 0, 0, 0], failures: [3_600_000, 3_600_000] };
    expect(decideRecovery(state, lost, 3_600_001, budget)[1]).toMatchObject({ to: 'fallback', ms: 10_000 });
  });

  it('takes a machine that slept for neither silence nor a frozen picture', () => {
    const [awake] = decideRecovery(initialRecoveryState(0), heartbeat(), 1000, budget);
    const slept = decideRecovery(awake, { type: 'tick' }, 3_600_000, budget);
    expect(slept[1]).toBeNull();
    expect(decideRecovery(slept[0], { type: 'tick' }, 3_601_000, budget)[1]).toBeNull();
  });

  it('reloads a heavy page between two slides, or after five minutes, and a very heavy one at once', () => {
    const [first] = decideRecovery(initialRecoveryState(0), heartbeat(), 0, budget);
    const [heavy, none] = decideRecovery(first, { type: 'memory', bytes: 1500 }, 1000, budget);
    expect(none).toBeNull();
    expect(decideRecovery(heavy, heartbeat(), 2000, budget)[1]).toBeNull();
    expect(decideRecovery(heavy, heartbeat({ slide: 'b' }), 2000, budget)[1]).toMatchObject({ to: 'reload' });
    const beating = { ...heavy, heartbeatAt: 301_500, movedAt: 301_500, tickedAt: 301_000 };
    expect(decideRecovery(beating, { type: 'tick' }, 302_000, budget)[1]).toMatchObject({ to: 'reload' });
    const [light] = decideRecovery(heavy, { type: 'memory', bytes: 500 }, 3000, budget);
    expect(decideRecovery(light, heartbeat({ slide: 'b' }), 4000, budget)[1]).toBeNull();
    expect(decideRecovery(first, { type: 'memory', bytes: 2500 }, 1000, budget)[1]).toMatchObject({ to: 'recreate' });
  });

  it('reloads a heavy page at the first slide after a blackout, or five minutes after it, and not in it', () => {
    const blackout: Story = [
      [1, { type: 'memory', bytes: 1500 }],
      ...steadily(0, 399, (second) => heartbeat({ free: false, slide: second < 200 ? 'a' : 'b' })),
    ];
    const since = (slide: string): Story => [
      ...steadily(402, 448, () => heartbeat({ slide: 'b' })),
      ...steadily(450, 720, () => heartbeat({ slide })),
    ];
    expect(tell([...blackout, ...since('c')])).toEqual([[450, 'reload']]);
    expect(tell([...blackout, ...since('b')])).toEqual([[702, 'reload']]);
    expect(tell([...blackout, [300, { type: 'memory', bytes: 2500 }]])).toEqual([[300, 'recreate']]);
  });

  it('never recovers a page that heartbeats and paints, whatever else there is', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: limits.heartbeatMs }), { maxLength: 60 }), (gaps) => {
        let [state] = decideRecovery(initialRecoveryState(0), opened, 0, budget);
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          for (const event of [{ type: 'tick' } as const, heartbeat()]) {
            const [next, step] = decideRecovery(state, event, now, budget);
            expect(step).toBeNull();
            state = next;
          }
        }
      }),
    );
  });

  it('does not decideRecovery on while the local page is on, whatever happens to it', () => {
    let state: RecoveryState = { ...initialRecoveryState(0), fallbackUntil: 10_000 };
    for (const event of [lost, heartbeat({ frames: 0 }), { type: 'memory', bytes: 9999 } as const]) {
      const [next, step] = decideRecovery(state, event, 5000, budget);
      expect(step).toBeNull();
      state = next;
    }
  });
});

it('the GPU is given up when it was lost three times in ten minutes', () => {
  const minute = 60_000;
  const unfit = (...minutes: number[]): boolean[] => {
    let losses: readonly number[] = [];
    return minutes.map((at) => {
      const judged = gpuLost(losses, at * minute);
      losses = judged.losses;
      return judged.isUnfit;
    });
  };
  expect(unfit(0, 3, 9)).toEqual([false, false, true]);
  expect(unfit(0, 3, 11)).toEqual([false, false, false]);
  expect(unfit(0, 6, 11, 12)).toEqual([false, false, false, true]);
});

it('a page may take a quarter of a small machine, a gibibyte of a large one', () => {
  expect(memoryBudget(2 * 1024 ** 3).soft).toBe(512 * 1024 ** 2);
  expect(memoryBudget(64 * 1024 ** 3).soft).toBe(1024 ** 3);
  const { soft, hard } = memoryBudget(8 * 1024 ** 3);
  expect(hard).toBeGreaterThan(soft);
});
