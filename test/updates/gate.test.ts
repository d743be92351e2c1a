import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as gate from '../../main/updates/gate.ts';

const MINUTE = 60_000;
const onTrial = (starts: number[] = []): gate.GateState => ({
  trial: { version: '2.0.0', from: '1.0.0', starts },
  failed: ['1.5.0'],
});

describe('a start', () => {
  test.each<[string, gate.GateState, string, number, gate.Start['verdict'], Partial<gate.GateState>]>([
    ['with nothing on trial', gate.emptyState, '1.0.0', 5, 'settled', gate.emptyState],
    ['the first of a new version', onTrial(), '2.0.0', 5, 'watch', onTrial([5])],
    ['the second', onTrial([5]), '2.0.0', 9 * MINUTE, 'watch', onTrial([5, 9 * MINUTE])],
    [
      'the third within ten minutes',
      onTrial([5, 6]),
      '2.0.0',
      9 * MINUTE,
      'roll back',
      { trial: null, failed: ['1.5.0', '2.0.0'] },
    ],
    ['the third, after a long time', onTrial([5, 6]), '2.0.0', 20 * MINUTE, 'watch', onTrial([20 * MINUTE])],
    [
      'long before the last one, by a clock that was set back',
      onTrial([20 * MINUTE, 21 * MINUTE]),
      '2.0.0',
      5,
      'watch',
      onTrial([5]),
    ],
    [
      'the third, by a clock that begins at the same moment each time',
      onTrial([50, 60]),
      '2.0.0',
      5,
      'roll back',
      { trial: null, failed: ['1.5.0', '2.0.0'] },
    ],
    [
      'of the version before it: it was rolled back from outside',
      onTrial(),
      '1.0.0',
      5,
      'settled',
      { trial: null, failed: ['1.5.0', '2.0.0'] },
    ],
  ])('%s', (_, state, running, now, verdict, next) => {
    expect(gate.start(state, running, now)).toEqual({ state: next, verdict });
  });
});

test('a system of an image has all three of the boots that it gets', () => {
  expect(gate.start(onTrial([5, 6]), '2.0.0', 9, true, true).verdict).toBe('watch');
  expect(gate.start(onTrial([5, 6, 7]), '2.0.0', 9, true, true).verdict).toBe('roll back');
});

describe('the watch', () => {
  const run = (looks: [minute: number, isHealthy: boolean][]) => {
    let watch: gate.Watch = gate.beginWatch(0);
    for (const [minute, isHealthy] of looks) {
      const next = gate.check(watch, isHealthy, minute * MINUTE);
      if (typeof next === 'string') return `${next} at ${minute}`;
      watch = next;
    }
    return 'goes on';
  };

  test.each<[string, [number, boolean][], string]>([
    [
      'well for five minutes',
      [
        [1, true],
        [3, true],
        [6, true],
      ],
      'passed at 6',
    ],
    [
      'well for less',
      [
        [1, true],
        [5, true],
      ],
      'goes on',
    ],
    [
      'a crash in between counts from there',
      [
        [1, true],
        [5, false],
        [6, true],
        [10, true],
        [11, true],
      ],
      'passed at 11',
    ],
    [
      'never well',
      [
        [1, false],
        [19, false],
        [20, false],
      ],
      'failed at 20',
    ],
    [
      'well too late',
      [
        [1, false],
        [16, true],
        [20, true],
      ],
      'failed at 20',
    ],
    [
      'well in the last moment',
      [
        [15, true],
        [20, true],
      ],
      'passed at 20',
    ],
  ])('%s', (_, looks, outcome) => {
    expect(run(looks)).toBe(outcome);
  });
});

test('an order that nothing came of is overdue after half an hour', () => {
  expect(gate.isOverdue(MINUTE, 30 * MINUTE)).toBe(false);
  expect(gate.isOverdue(MINUTE, 31 * MINUTE)).toBe(true);
});

test.each<[string, (boolean | null)[][], isBarred: boolean]>([
  ['nothing, because it never got so far', [[], [], []], true],
  ['no display at any of its starts', [[null, null], [null], [null]], false],
  ['no display, and at its last start it got not so far', [[null], [null], []], true],
  ['a display at one of its starts', [[null], [null, true, null], [null]], true],
  ['no display, while the service did not run yet', [[false, null], [null], [false, null]], false],
])('a version that was given up from outside and saw %s', (_, starts, isBarred) => {
  let state = gate.begin(gate.emptyState, '2.0.0', '1.0.0');
  for (const [index, looks] of starts.entries()) {
    state = gate.start(state, '2.0.0', index * 24 * 60 * MINUTE, true, true).state;
    for (const look of looks) state = gate.note(state, look);
  }
  const before = state;
  state = gate.start(before, '1.0.0', 0, true, true).state;
  expect(state).toEqual({ trial: null, failed: isBarred ? ['2.0.0'] : [] });
  // A package ends by its crashes.
  expect(gate.start(before, '1.0.0', 0, true).state.failed).toEqual(['2.0.0']);
});

const after = { pass: gate.pass, reject: gate.reject, abandon: gate.abandon };

test('whatever happens, a version that failed is never tried again, and one trial goes on at a time', () => {
  const version = fc.constantFrom('2.0.0', '3.0.0', '4.0.0');
  const event = fc.oneof(
    fc.record({ kind: fc.constantFrom('begin' as const, 'start' as const), version }),
    fc.record({ kind: fc.constantFrom('pass' as const, 'reject' as const, 'abandon' as const) }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(event, fc.nat(MINUTE)), { maxLength: 60 }), (events) => {
      let state = gate.emptyState;
      let now = 0;
      const refused = new Set<string>();
      for (const [each, later] of events) {
        now += later;
        if (each.kind === 'begin') {
          if (!gate.mayInstall(state, each.version)) continue;
          expect(refused).not.toContain(each.version);
          state = gate.begin(state, each.version, '1.0.0');
        } else if (each.kind === 'start') {
          const { state: next, verdict } = gate.start(state, each.version, now);
          if (verdict === 'roll back') expect(next.failed).toContain(each.version);
          state = next;
        } else state = after[each.kind](state);
        for (const failed of state.failed) refused.add(failed);
        expect(state.failed).toEqual(expect.arrayContaining([...refused]));
      }
    }),
  );
});

test('no time passes for a version on a machine whose display is switched off', () => {
  const watch = gate.check(gate.beginWatch(0), null, 60 * MINUTE);
  expect(watch).toEqual(gate.beginWatch(60 * MINUTE));
});
