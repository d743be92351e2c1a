import { describe, expect, it } from 'vitest';
import { correctionOf, whereIn } from '../../../renderer/player/slides/drift-correction.ts';

const LONG_AGO = Number.POSITIVE_INFINITY;

describe('a video that should be somewhere else', () => {
  it.each([
    ['is left alone within half a frame', 7, false, { rate: 1, seek: false }],
    ['is slowed down a little where it is ahead', 12, false, { rate: 0.98, seek: false }],
    ['is hurried where it is behind', -40, false, { rate: 1.04, seek: false }],
    ['never by more than is seen', -240, false, { rate: 1.05, seek: false }],
    ['until nothing is left of it', 7, true, { rate: 0.98, seek: false }],
    ['and then plays on', 1, true, { rate: 1, seek: false }],
    ['jumps where it is far off', -251, false, { rate: 1, seek: true }],
  ])('%s', (_, ahead, isCorrecting, expected) => {
    expect(correctionOf(ahead, isCorrecting, LONG_AGO)).toEqual(expected);
  });

  it('does not jump again before a jump has shown its effect', () => {
    expect(correctionOf(-5_000, false, 100)).toEqual({ rate: 1.05, seek: false });
  });

  it('comes to within half a frame of it in two seconds, from 50 ms away', () => {
    let [ahead, isCorrecting] = [50, false];
    for (let at = 0; at < 2_000; at += 200) {
      const { rate } = correctionOf(ahead, isCorrecting, LONG_AGO);
      isCorrecting = rate !== 1;
      ahead += (rate - 1) * 200;
    }
    expect(Math.abs(ahead)).toBeLessThan(8);
  });
});

describe('where a video should be', () => {
  it.each([
    ['as far as its slide', 4, false, 1_500, 1_500],
    ['at its end where the slide is longer', 4, false, 5_000, 4_000],
    ['at its beginning before its turn', 4, false, -100, 0],
    ['somewhere in its round where it is looped', 4, true, 9_000, 1_000],
  ])('is %s', (_, duration, loop, position, expected) => {
    expect(whereIn({ duration, loop }, position)).toBe(expected);
  });
});
