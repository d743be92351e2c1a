import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contradicts, isBacked, judge, majorityOf, type Opinion } from '../../service/clock/majority.ts';

const HOUR = 3_600_000;
const opinion = (site: number | null, wall: number | null = site): Opinion => ({
  site,
  wall,
  doubt: 5,
  synchronized: false,
});
const exact = (wall: number): Opinion => ({ ...opinion(wall), synchronized: true });

describe('the majority', () => {
  it.each([
    ['of one is its own', [7], 1, 7],
    ['of two that differ is none', [0, HOUR], 2, null],
    ['of three is the two that agree', [0, HOUR, 10], 3, 0],
    ['is none where as many are not known', [0, 10], 4, null],
    ['is empty for no boxes', [], 0, null],
    ['is not a chain of neighbours', [0, 900, 1_800, 2_700], 4, null],
  ])('%s', (_, values, voters, expected) => {
    expect(majorityOf(values, voters, 1_000)).toBe(expected);
  });

  it('is within the tolerance of an honest box, whatever a minority says', () => {
    const honest = fc.array(fc.integer({ min: -200, max: 200 }), { minLength: 3, maxLength: 9 });
    fc.assert(
      fc.property(honest, fc.array(fc.integer({ min: -HOUR, max: HOUR }), { maxLength: 2 }), (right, wrong) => {
        const found = majorityOf([...right, ...wrong], right.length + wrong.length, 1_000);
        expect(found).not.toBeNull();
        expect(Math.abs(found ?? Number.NaN)).toBeLessThanOrEqual(1_200);
      }),
    );
  });
});

describe('a box', () => {
  const honest = [opinion(0), opinion(3), opinion(-4)];

  it('that most contradict is not followed', () => {
    const verdict = judge([...honest, opinion(HOUR)], 0, false);
    expect(contradicts(opinion(HOUR), verdict)).toBe(true);
    for (const each of honest) expect(contradicts(each, verdict)).toBe(false);
  });

  it('that leads all astray contradicts their times of day', () => {
    const astray = [opinion(5_000, 0), opinion(5_000, 10), opinion(5_000, 5_000)];
    expect(contradicts(opinion(5_000), judge(astray, 0, false))).toBe(true);
  });

  it('is followed where nobody knows better', () => {
    expect(contradicts(opinion(HOUR), judge([opinion(HOUR), opinion(0)], 0, false))).toBe(false);
    expect(contradicts(opinion(null), judge(honest, 0, false))).toBe(false);
  });

  it('may step to a time that most boxes stand behind, and to no other', () => {
    const verdict = judge([opinion(0), opinion(HOUR), opinion(HOUR)], 0, false);
    expect([isBacked(HOUR, 5, verdict), isBacked(0, 5, verdict), isBacked(2 * HOUR, 5, verdict)]).toEqual([
      ...[true, false, false],
    ]);
    expect(isBacked(HOUR, 5, judge([opinion(0), opinion(HOUR)], 0, false))).toBe(false);
  });

  it('has no majority behind it while most of a site is not known', () => {
    expect(judge([opinion(0), opinion(0)], 98, false).wall).toBeNull();
    expect(judge([opinion(0), opinion(0), opinion(0)], 97, false).wall).toBe(0);
  });

  it.each([
    ['of two the one that follows a time server', [exact(0), opinion(HOUR)], 0, 0],
    ['of two that follow time servers and differ none', [exact(0), exact(HOUR)], 0, null],
    ['of three the two that agree, whatever one follows', [exact(HOUR), opinion(0), opinion(10)], 0, 0],
    ['none while most of a site is not known', [exact(0), opinion(HOUR)], 98, null],
  ])('has the time of %s', (_, opinions, unheard, wall) => {
    expect(judge(opinions, unheard, false).wall).toBe(wall);
  });

  it.each([
    ['is not overruled by the clock of one', [opinion(0, HOUR)], null],
    ['nor by that of one beside a clock that was never set', [opinion(0, HOUR), opinion(0, null)], null],
    ['is by one that follows a time server', [{ ...exact(HOUR), site: 0 }], HOUR],
    ['is by two', [opinion(0, HOUR), opinion(0, HOUR)], HOUR],
  ])('has a time that was agreed, which %s', (_, opinions, wall) => {
    expect(judge(opinions, 0, true).wall).toBe(wall);
  });
});
