import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Action,
  begin,
  type Event,
  isOver,
  type Life,
  type Phase,
  step,
  wakeAt,
} from '../../service/streams/lifecycle.ts';
import { defaultTempo } from '../../service/tempo.ts';

const timing = { ...defaultTempo.streams, idle: 30_000 };
const seconds = (count: number) => 1000 * count;

/** A stream's life played through: what happens, and when (s). */
const play = (...events: [at: number, event: Event][]): { life: Life; actions: Action[]; phase: Phase } => {
  let [life, action] = begin(0, timing);
  const actions = [action];
  for (const [at, event] of events) {
    [life, action] = step(life, event, seconds(at), timing);
    if (action !== null) actions.push(action);
  }
  return { life, actions, phase: life.phase };
};

const asked: Event = { type: 'asked' };
const media: Event = { type: 'media', duration: 500 };
const misfit: Event = { type: 'misfit' };
const tick: Event = { type: 'tick' };
const close: Event = { type: 'close' };
const exit = (roll = 1): Event => ({ type: 'exit', roll });

describe('a stream', () => {
  it.each<[string, Phase, Action[], [number, Event][]]>([
    ['starts', 'starting', ['run'], []],
    ['is live with its first media', 'live', ['run'], [[1, media]]],
    [
      'is quiet after 3 s without',
      'quiet',
      ['run', 'resume'],
      [
        [1, media],
        [4, tick],
      ],
    ],
    [
      'is not quiet before',
      'live',
      ['run'],
      [
        [1, media],
        [3.9, tick],
      ],
    ],
    [
      'is live again with more',
      'live',
      ['run', 'resume'],
      [
        [1, media],
        [4, tick],
        [5, media],
      ],
    ],
    [
      'has stalled after 6 s without',
      'stalled',
      ['run', 'resume', 'terminate'],
      [
        [1, media],
        [4, tick],
        [7, tick],
      ],
    ],
    [
      'is given more time where its segments are long',
      'quiet',
      ['run', 'resume'],
      [
        [1, { type: 'media', duration: 4000 }],
        [6.9, tick],
        [7, tick],
        [12.9, tick],
      ],
    ],
    [
      'has stalled after 20 s without any',
      'stalled',
      ['run', 'terminate'],
      [
        [19, asked],
        [20, tick],
      ],
    ],
    [
      'is killed where it does not stop',
      'stalled',
      ['run', 'terminate', 'kill'],
      [
        [19, asked],
        [20, tick],
        [22, tick],
        [23, tick],
      ],
    ],
    [
      'does not count what comes after that',
      'stalled',
      ['run', 'terminate'],
      [
        [19, asked],
        [20, tick],
        [20.1, media],
      ],
    ],
    ['rests when it ends', 'backoff', ['run'], [[1, exit()]]],
    [
      'starts again after a rest',
      'starting',
      ['run', 'run'],
      [
        [1, exit()],
        [1.5, tick],
      ],
    ],
    [
      'rests before it does',
      'backoff',
      ['run'],
      [
        [1, exit()],
        [1.4, tick],
      ],
    ],
    [
      'is replaced by a better plan at once',
      'starting',
      ['run', 'terminate', 'run'],
      [
        [1, misfit],
        [1.1, exit()],
        [1.1, tick],
      ],
    ],
    [
      'ends when nobody asks',
      'ending',
      ['run', 'terminate'],
      [
        [1, media],
        [29, media],
        [30, tick],
      ],
    ],
    [
      'ends at once where nothing runs',
      'ended',
      ['run'],
      [
        [1, exit()],
        [30, tick],
      ],
    ],
    [
      'does not end while somebody asks',
      'live',
      ['run'],
      [
        [1, media],
        [20, asked],
        [29, media],
        [30, tick],
      ],
    ],
    [
      'ends when it is closed',
      'ended',
      ['run', 'terminate'],
      [
        [1, close],
        [1.1, exit()],
      ],
    ],
    [
      'is killed where it does not end',
      'ending',
      ['run', 'terminate', 'kill'],
      [
        [1, close],
        [2, asked],
        [3, tick],
      ],
    ],
    [
      'ends though it was stopping already',
      'ended',
      ['run', 'terminate'],
      [
        [1, misfit],
        [1.1, close],
        [1.2, exit()],
      ],
    ],
    [
      'stays ended',
      'ended',
      ['run'],
      [
        [1, exit()],
        [2, close],
        [3, asked],
        [4, media],
        [5, misfit],
        [6, tick],
      ],
    ],
  ])('%s', (_, phase, actions, events) => {
    expect(play(...events)).toMatchObject({ phase, actions });
  });

  /** A stream that ended `times` times within its first seconds, last asked for at its beginning. */
  const failing = (times: number, roll = 1): Life =>
    Array.from({ length: times }).reduce<Life>(
      (life) => step({ ...life, phase: 'starting' }, exit(roll), seconds(6), { ...timing, idle: seconds(3600) })[0],
      begin(0, timing)[0],
    );

  it('rests for longer each time, up to half a minute', () => {
    const pauses = [1, 2, 3, 4, 5, 6].map((times) => failing(times).dueAt - seconds(6));
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000]);
    expect(failing(3, 0.25).dueAt - seconds(6)).toBe(500);
  });

  it('gives up where it fails too often and nobody asks, until somebody does', () => {
    const life = failing(7);
    expect(life).toMatchObject({ phase: 'failed', dueAt: Number.POSITIVE_INFINITY });
    const [again] = step(life, asked, seconds(60), timing);
    expect(again).toMatchObject({ phase: 'backoff', dueAt: seconds(60) });
  });

  it('is forgiven its failures after a minute of media', () => {
    const [life] = step({ ...failing(3), phase: 'starting' }, media, seconds(10), timing);
    expect(life.failures).toBe(3);
    expect(step(life, media, seconds(69.9), timing)[0].failures).toBe(3);
    expect(step(life, media, seconds(70), timing)[0].failures).toBe(0);
  });

  it('is woken in time for whatever is next', () => {
    expect(wakeAt(begin(0, timing)[0], timing)).toBe(20_000);
    expect(wakeAt(begin(0, timing)[0], { ...timing, idle: 1_000 })).toBe(1_000);
    expect(wakeAt(play([1, close]).life, { ...timing, idle: 500 })).toBe(3_000);
    expect(wakeAt(play([1, close], [1.1, exit()]).life, { ...timing, idle: 500 })).toBe(Number.POSITIVE_INFINITY);
  });
});

/** A world of one second in ten steps: ffmpeg obeys at once, media needs three steps to come. */
const simulate = (
  isThere: (at: number) => boolean,
  isAsked: (at: number) => boolean,
  roll: () => number,
  until: number,
) => {
  let [life, action] = begin(0, timing);
  let runningFor = 0;
  let isRunning = true;
  const runs: number[] = [0];
  const lives: boolean[] = [];
  const happen = (event: Event, now: number): void => {
    [life, action] = step(life, event, now, timing);
    if (action === 'run') {
      expect(isRunning).toBe(false);
      isRunning = true;
      runningFor = 0;
      runs.push(now);
    }
    if (action === 'terminate' || action === 'kill') {
      isRunning = false;
      happen(exit(roll()), now);
    }
  };
  for (let now = 0; now < until && !isOver(life); now += 100) {
    if (isAsked(now)) happen(asked, now);
    if (isRunning && !isThere(now)) {
      isRunning = false;
      happen(exit(roll()), now);
    }
    if (isRunning && runningFor > 2) happen(media, now);
    runningFor += 1;
    if (now >= wakeAt(life, timing)) happen(tick, now);
    lives.push(life.phase === 'live');
  }
  return { life, runs, lives };
};

describe('a stream that somebody asks for every second', () => {
  const everySecond = (at: number) => at % 1000 === 0;
  const outage = fc.record({ from: fc.integer({ min: 0, max: 300 }), length: fc.integer({ min: 1, max: 600 }) });

  it('is back within 3 s of its source, however long and often that was away', () => {
    fc.assert(
      fc.property(
        fc.array(outage, { maxLength: 6 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }),
        (outages, rolls) => {
          const gaps: [number, number][] = [];
          let at = 0;
          for (const { from, length } of outages) {
            gaps.push([at + 100 * from, at + 100 * (from + length)]);
            at = (gaps.at(-1)?.[1] ?? 0) + 5_000;
          }
          const isThere = (now: number) => !gaps.some(([from, to]) => now >= from && now < to);
          let n = 0;
          const { lives } = simulate(isThere, everySecond, () => rolls[n++ % rolls.length] ?? 0, at + 10_000);
          for (const [, to] of gaps) expect(lives.slice(to / 100, to / 100 + 30)).toContain(true);
          expect(lives.at(-1)).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('is tried every 2 s at most, on average', () => {
    const { runs } = simulate(
      () => false,
      everySecond,
      () => 1,
      100_000,
    );
    expect(runs.length).toBeGreaterThan(40);
    expect(runs.length).toBeLessThan(60);
  });
});

describe('a stream that nobody asks for', () => {
  it('is tried less and less, and then ends', () => {
    const { life, runs } = simulate(
      () => false,
      () => false,
      () => 1,
      100_000,
    );
    expect(life.phase).toBe('ended');
    expect(runs.length).toBeLessThan(12);
  });
});
