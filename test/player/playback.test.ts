/** The reducer of playback, event by event. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { initialPlayback, reduce } from '../../renderer/player/playback.ts';
import type { Effect, Playback, PlaybackEvent } from '../../renderer/player/playback-state.ts';
import type { Slide } from '../../service/contract/playlist.ts';
import { payloadOf, slide } from './scene.ts';

const NOON = Date.parse('2026-07-01T12:00:00Z');
/** `elapsed` is 0 at noon. */
const nowAt = (elapsed: number) => ({ elapsed, wall: NOON + elapsed, site: NOON + elapsed, isClockSet: true });

type Moment = [elapsed: number, event: PlaybackEvent];

const load = (slides: Slide[], isSynchronized = false): PlaybackEvent => ({
  type: 'load',
  payload: payloadOf(...slides),
  isSynchronized,
});
const ready = (key: number, length: number | null = null): PlaybackEvent => ({
  type: 'ready',
  key,
  length,
  movesMs: length,
});
const unready = (key: number): PlaybackEvent => ({ type: 'unready', key, reason: 'it is broken' });
const visible = (key: number): PlaybackEvent => ({ type: 'visible', key });
const failed = (key: number): PlaybackEvent => ({ type: 'failed', key, reason: 'it stopped' });
const replaced = (key: number): PlaybackEvent => ({ type: 'replaced', key });
const next: PlaybackEvent = { type: 'step', by: 1 };
const halt = (isHalted: boolean): PlaybackEvent => ({ type: 'halt', isHalted });
const tick: PlaybackEvent = { type: 'tick' };

const inWords = (effect: Effect): string => {
  if (effect.type === 'prepare') return `prepare ${effect.slide.id} as ${effect.key}`;
  if (effect.type === 'report') return `report ${effect.slide?.id ?? 'nothing'}`;
  if (effect.type === 'fail') return `fail ${effect.slideId}: ${effect.reason}`;
  if (effect.type === 'wakeAt') return `wake at ${effect.at}`;
  if (effect.type === 'began') return `began ${effect.slide.id} for ${effect.expectedMs}`;
  if (effect.type === 'ended') return `ended${effect.ending === null ? '' : `: ${effect.ending.reason}`}`;
  if (effect.type === 'skipped') return `skipped ${effect.slide.id}: ${effect.reason}`;
  return `${effect.type} ${effect.key}`;
};

const isOfPlays = ({ type }: Effect): boolean => ['began', 'ended', 'skipped'].includes(type);

interface Outcome {
  state: Playback;
  /** The effects of the last event, without those on plays. */
  effects: string[];
  /** Those on plays, of all events. */
  plays: string[];
}

const play = (moments: readonly Moment[]): Outcome =>
  moments.reduce<Outcome>(
    ({ state, plays }, [elapsed, event]) => {
      const [after, effects] = reduce(state, event, nowAt(elapsed));
      return {
        state: after,
        effects: effects.filter((effect) => !isOfPlays(effect)).map(inWords),
        plays: [...plays, ...effects.filter(isOfPlays).map(inWords)],
      };
    },
    { state: initialPlayback('UTC'), effects: [], plays: [] },
  );

const [a, b, c] = ['a', 'b', 'c'].map((id) => slide(id, { duration_seconds: 10 })) as [Slide, Slide, Slide];
const begin: Moment[] = [
  [0, load([a, b, c])],
  [100, ready(1)],
  [100, visible(1)],
];

describe('a player that keeps its own time', () => {
  it.each<[string, Moment[], string[]]>([
    ['prepares the first slide of a playlist', [[0, load([a, b])]], ['prepare a as 1', 'wake at 5000']],
    [
      'shows it as soon as it is ready, and prepares the next one',
      begin.slice(0, 2),
      ['show 1', 'prepare b as 2', 'wake at 5000'],
    ],
    ['starts and reports it once it is visible', begin, ['start 1', 'report a', 'wake at 5000']],
    ['does nothing before the first playlist', [[0, halt(true)]], []],
    ['shows the idle screen for an empty playlist', [[0, load([])]], ['idle 1', 'show 1', 'wake at 5000']],
    [
      'shows the idle screen if no slide is ready in time',
      [
        [0, load([a])],
        [5_000, tick],
      ],
      ['idle 2', 'show 2', 'wake at 35000'],
    ],
    ['keeps a slide that is ready until its slot', [...begin, [500, ready(2)]], ['wake at 5000']],
    [
      'swaps it in when the slot of the shown one ends',
      [...begin, [500, ready(2)], [10_100, tick]],
      ['show 2', 'prepare c as 3', 'wake at 20100'],
    ],
    [
      'swaps it in late if it is ready late',
      [...begin, [12_000, ready(2)]],
      ['show 2', 'prepare c as 3', 'wake at 22000'],
    ],
    [
      'reports a slide that can not be prepared, and prepares the one after it',
      [...begin, [200, unready(2)]],
      ['discard 2', 'fail b: it is broken', 'prepare c as 3', 'wake at 5000'],
    ],
    [
      'ignores the outcome of a view that it has discarded',
      [...begin, [200, unready(2)], [300, unready(2)]],
      ['wake at 5000'],
    ],
    [
      'reports a slide that can not go on, and waits for its successor',
      [...begin, [200, failed(1)]],
      ['fail a: it stopped', 'wake at 5000'],
    ],
    [
      'replaces it as soon as that is ready',
      [...begin, [200, failed(1)], [300, ready(2)]],
      ['show 2', 'prepare c as 3', 'wake at 5000'],
    ],
    [
      'shows a slide at once that a command asks for',
      [...begin, [500, ready(2)], [600, next]],
      ['show 2', 'prepare c as 3', 'wake at 5000'],
    ],
    [
      'prepares it if it is not there yet',
      [...begin, [500, { type: 'step', by: -1 }]],
      ['discard 2', 'prepare c as 3', 'wake at 5000'],
    ],
    [
      'prepares a slide again whose medium was replaced',
      [...begin, [500, replaced(1)]],
      ['discard 2', 'prepare a as 3', 'wake at 5000'],
    ],
    [
      'prepares the next one again whose medium was replaced',
      [...begin, [500, ready(2)], [600, replaced(2)]],
      ['discard 2', 'prepare b as 3', 'wake at 5000'],
    ],
    [
      'prepares again what a command asks for',
      [...begin, [500, { type: 'step', by: -1 }], [600, replaced(3)]],
      ['discard 3', 'prepare c as 4', 'wake at 5000'],
    ],
    [
      'gives a slide whose medium was replaced the rest of its time',
      [...begin, [4_000, replaced(1)], [4_100, ready(3)], [4_200, visible(3)]],
      ['start 3', 'report a', 'wake at 5000'],
    ],
    [
      'goes on with a slide whose medium was replaced by one that does not load',
      [...begin, [500, ready(2)], [600, replaced(1)], [700, unready(3)]],
      ['discard 3', 'prepare b as 4', 'wake at 5000'],
    ],
    ['pauses a visible slide', [...begin, [500, halt(true)]], ['pause 1', 'wake at 5000']],
    [
      'pauses one that becomes visible meanwhile',
      [...begin.slice(0, 2), [500, halt(true)], [600, visible(1)]],
      ['start 1', 'pause 1', 'report a', 'wake at 5000'],
    ],
    [
      'gives a paused slide the rest of its time',
      [...begin, [500, ready(2)], [4_100, halt(true)], [60_000, halt(false)]],
      ['resume 1', 'wake at 66000'],
    ],
    [
      'keeps a slide that a new playlist does not change',
      [...begin, [500, load([c, a, b])]],
      ['report a', 'wake at 5000'],
    ],
    [
      'prepares the new version of one that it changes',
      [...begin, [500, load([{ ...a, title: 'new' }, b, c])]],
      ['discard 2', 'prepare a as 3', 'wake at 5000'],
    ],
    [
      'restarts a single slide at the end of its slot',
      [
        [0, load([a])],
        [100, ready(1)],
        [100, visible(1)],
        [10_100, tick],
      ],
      ['restart 1', 'wake at 20100'],
    ],
  ])('%s', (_, moments, effects) => {
    expect(play(moments).effects).toEqual(effects);
  });

  it('tells the new version of a slide with the same medium how long the slide has been on', () => {
    const film = slide('film', { kind: 'video', media_url: '/media/film.mp4', duration_seconds: 10 });
    const { state } = play([
      [0, load([film, b])],
      [100, ready(1)],
      [100, visible(1)],
      [4_000, load([{ ...film, content: { fit: 'contain' } }, b])],
    ]);
    expect(state.upcoming).toMatchObject({ slide: { id: 'film' }, isContinued: true });
  });
});

describe('a synchronized player', () => {
  // A loop of 30 s began at noon.
  const start: Moment[] = [
    [12_000, load([a, b, c], true)],
    [12_100, ready(1)],
    [12_200, visible(1)],
  ];

  it.each<[string, Moment[], string[]]>([
    ['prepares the slide whose slot it is', start.slice(0, 1), ['prepare b as 1', 'wake at 17000']],
    [
      'shows it as soon as it is ready, and prepares the next one',
      start.slice(0, 2),
      ['show 1', 'prepare c as 2', 'wake at 17000'],
    ],
    [
      'begins to swap before the slot begins',
      [...start, [12_500, ready(2)], [19_700, tick]],
      ['show 2', 'prepare a as 3', 'wake at 29700'],
    ],
    [
      'leaves the slot of a failed slide to the one before it',
      [...start, [12_500, unready(2)], [19_700, tick]],
      ['wake at 27500'],
    ],
    [
      'goes to the next slot on a command',
      [...start, [12_500, ready(2)], [13_000, next]],
      ['show 2', 'prepare a as 3', 'wake at 17000'],
    ],
  ])('%s', (_, moments, effects) => {
    expect(play(moments).effects).toEqual(effects);
  });

  it('keeps its own time while the clock is unknown', () => {
    const now = { ...nowAt(12_000), isClockSet: false };
    const [, effects] = reduce(initialPlayback('UTC'), load([a, b, c], true), now);
    expect(effects.map(inWords)).toContain('prepare a as 1');
  });
});

describe('a play', () => {
  const swapped: Moment[] = [...begin, [500, ready(2)], [10_100, tick]];

  it.each<[string, Moment[], string[]]>([
    ['begins when its slide is visible, not when it is swapped in', swapped, ['ended', 'began a for 10000']],
    [
      'ends when the next slide is visible',
      [...swapped, [10_200, visible(2)]],
      ['ended', 'began a for 10000', 'ended', 'began b for 10000'],
    ],
    [
      'ends for a command',
      [...begin, [500, ready(2)], [600, next], [700, visible(2)]],
      ['ended', 'began a for 10000', 'ended: command', 'began b for 10000'],
    ],
    [
      'ends for the command even if the slide that it showed was never visible',
      [...begin, [500, ready(2)], [600, next], [610, ready(3)], [620, next], [700, visible(3)]],
      ['ended', 'began a for 10000', 'ended: command', 'began c for 10000'],
    ],
    [
      'ends because its slide failed',
      [...begin, [500, ready(2)], [600, failed(1)], [700, visible(2)]],
      ['ended', 'began a for 10000', 'ended: it stopped', 'began b for 10000'],
    ],
    [
      'ends because its slide was edited, whose new version has the rest of the time',
      [...begin, [4_100, load([{ ...a, title: 'new' }, b])], [4_200, ready(3)], [4_300, visible(3)]],
      ['ended', 'began a for 10000', 'ended: edited', 'began a for 5800'],
    ],
    [
      'ends because its slide was removed',
      [...begin, [500, load([])], [700, visible(3)]],
      ['ended', 'began a for 10000', 'ended: removed'],
    ],
    [
      'ends with the schedule',
      [
        [0, load([{ ...a, schedule_mode: 'between', schedule_end_datetime: '2026-07-01T12:00:05Z' }])],
        [100, ready(1)],
        [100, visible(1)],
        [5_000, tick],
        [5_100, visible(2)],
      ],
      ['ended', 'began a for 10000', 'ended: schedule'],
    ],
    [
      'of a single slide is followed by another one',
      [
        [0, load([a])],
        [100, ready(1)],
        [100, visible(1)],
        [10_100, tick],
      ],
      ['ended', 'began a for 10000', 'ended', 'began a for 10000'],
    ],
    [
      'of a slide that could not be prepared is skipped',
      [...begin, [200, unready(2)]],
      ['ended', 'began a for 10000', 'skipped b: it is broken'],
    ],
  ])('%s', (_, moments, plays) => {
    expect(play(moments).plays).toEqual(plays);
  });

  it('of a page that joins the others late is to be on for the rest of the slot', () => {
    const { plays } = play([
      [12_000, load([a, b, c], true)],
      [12_100, ready(1)],
      [12_200, visible(1)],
      [12_300, ready(2)],
      [19_700, tick],
      [20_001, visible(2)],
    ]);
    expect(plays).toEqual(['ended', 'began b for 7800', 'ended', 'began c for 10000']);
  });
});

describe('whatever happens, the player', () => {
  const event = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 40 }).map((key) => ready(key)) },
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 40 }).map(visible) },
    fc.integer({ min: 1, max: 40 }).map(unready),
    fc.integer({ min: 1, max: 40 }).map(failed),
    fc.constantFrom<PlaybackEvent>(next, { type: 'step', by: -1 }, { type: 'retry' }, { type: 'clockSet' }),
    fc.boolean().map(halt),
    fc
      .tuple(fc.shuffledSubarray([a, b, c]), fc.boolean(), fc.constantFrom('one', 'two'))
      .map(([slides, isSynchronized, title]) =>
        load(
          slides.map((each) => ({ ...each, title })),
          isSynchronized,
        ),
      ),
    { weight: 4, arbitrary: fc.constant(tick) },
  );

  it('has at most one view shown and one prepared, discards each view once, and always wakes up again', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), event), { maxLength: 60 }), (steps) => {
        let elapsed = 0;
        let [state] = reduce(initialPlayback('UTC'), load([a, b, c]), nowAt(0));
        const created = new Set([1]);
        const gone = new Set<number>();
        for (const [pause, happening] of steps) {
          elapsed += pause;
          const [after, effects] = reduce(state, happening, nowAt(elapsed));
          for (const effect of effects) {
            if (effect.type === 'prepare' || effect.type === 'idle') created.add(effect.key);
            if (effect.type === 'show') expect(created).toContain(effect.key);
            if (effect.type === 'show' && state.shown !== null) gone.add(state.shown.key);
            if (effect.type === 'discard') {
              expect(gone).not.toContain(effect.key);
              gone.add(effect.key);
            }
          }
          state = after;
          const live = [...created].filter((key) => !gone.has(key));
          const known = [state.shown?.key, state.upcoming?.key];
          expect(live.filter((key) => !known.includes(key))).toEqual([]);
          const wakes = effects.flatMap((effect) => (effect.type === 'wakeAt' ? [effect.at] : []));
          expect(wakes).toHaveLength(1);
          expect(wakes[0]).toBeGreaterThan(elapsed);
        }
      }),
      { numRuns: 300 },
    );
  });
});
