import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  append,
  emptied,
  emptyWindow,
  manifest,
  nextTimeline,
  segmentNamed,
  type Window,
} from '../../service/streams/manifest.ts';
import type { Segment } from '../../service/streams/segmenter.ts';

const segment = (duration: number, independent: boolean, data = Buffer.from('x')): Segment => ({
  duration,
  independent,
  data,
});

const start = Date.parse('2026-01-31T08:00:00.000Z');
const fill = (segments: Segment[], window = emptyWindow(start)): Window => segments.reduce(append, window);

/** A stream with a keyframe every `gop` segments of half a second. */
const stream = (count: number, gop: number) => Array.from({ length: count }, (_, n) => segment(0.5, n % gop === 0));

const read = (text: string) => {
  const tag = (name: string) => Number(new RegExp(`^#EXT-X-${name}:(.*)$`, 'm').exec(text)?.[1]);
  return {
    sequence: tag('MEDIA-SEQUENCE'),
    timeline: tag('DISCONTINUITY-SEQUENCE'),
    target: tag('TARGETDURATION'),
    offset: Number(/TIME-OFFSET=(.*)$/m.exec(text)?.[1]),
    durations: [...text.matchAll(/^#EXTINF:(.*),$/gm)].map(([, seconds]) => Number(seconds)),
    names: text.match(/^\d+\.ts$/gm) ?? [],
    discontinuities: text.match(/^#EXT-X-DISCONTINUITY$/gm)?.length ?? 0,
  };
};

describe('a manifest', () => {
  it('is a media playlist', () => {
    const window = fill([segment(0.2, true), segment(0.52, false)], {
      ...emptyWindow(start),
      nextSequence: 7,
      timeline: 3,
    });
    expect(manifest(window)).toBe(
      [
        '#EXTM3U',
        '#EXT-X-VERSION:3',
        '#EXT-X-TARGETDURATION:1',
        '#EXT-X-MEDIA-SEQUENCE:7',
        '#EXT-X-DISCONTINUITY-SEQUENCE:3',
        '#EXT-X-START:TIME-OFFSET=-0.710',
        '#EXTINF:0.20000,',
        '7.ts',
        '#EXTINF:0.52000,',
        '8.ts',
        '',
      ].join('\n'),
    );
  });

  it.each([
    ['half a second', 0.5, 1],
    ['a second and a half', 1.5, 2],
    ['four seconds', 4.4, 4],
  ])('has a target duration that holds for segments of %s', (_, duration, target) => {
    expect(read(manifest(fill([segment(duration, true)]))).target).toBe(target);
  });

  it('begins with the newest keyframe that leaves it eight seconds', () => {
    const { names, sequence } = read(manifest(fill(stream(41, 4))));
    expect(names).toHaveLength(17);
    expect(names[0]).toBe(`${sequence}.ts`);
  });

  it('goes back as far as it must for a keyframe', () => {
    expect(read(manifest(fill(stream(60, 100)))).names).toHaveLength(60);
  });

  it('sends players to the newest keyframe that leaves them a second', () => {
    expect(read(manifest(fill(stream(40, 4)))).offset).toBe(-1.99);
    expect(read(manifest(fill(stream(41, 4)))).offset).toBe(-2.49);
    expect(read(manifest(fill(stream(42, 4)))).offset).toBe(-0.99);
  });

  it('marks where the source was restarted, and sends players behind it', () => {
    const window = fill(stream(2, 4), nextTimeline(fill(stream(12, 4))));
    const before = read(manifest(window));
    expect(before).toMatchObject({ discontinuities: 1, offset: -0.99 });
    const after = read(manifest(fill(stream(20, 4), window)));
    expect(after).toMatchObject({ discontinuities: 0, timeline: before.timeline + 1 });
  });

  it('has the same target duration for as long as it is there', () => {
    const short = fill([segment(0.2, true), segment(0.5, false)]);
    const long = fill([segment(4, true), segment(0.5, false)], short);
    expect(read(manifest(long))).toMatchObject({ target: 1, durations: [0.2, 0.5, 1.499, 0.5] });
    const slow = fill([segment(4, true), segment(0.5, false)]);
    expect(read(manifest(fill(stream(60, 4), slow)))).toMatchObject({ target: 4 });
    expect(read(manifest(fill([segment(4, true)], emptied(short)))).target).toBe(4);
  });

  it('counts no source that was started and made nothing', () => {
    const before = fill(stream(4, 4));
    const after = fill(stream(4, 4), nextTimeline(nextTimeline(nextTimeline(before))));
    expect(read(manifest(after))).toMatchObject({ discontinuities: 1, timeline: before.timeline });
    const alone = fill(stream(4, 4), nextTimeline(nextTimeline(emptied(before))));
    expect(read(manifest(alone))).toMatchObject({ discontinuities: 0, timeline: before.timeline + 1 });
  });

  it('never repeats a number, whatever happens in between', () => {
    const first = read(manifest(fill(stream(50, 4))));
    const again = read(manifest(fill(stream(1, 4), emptyWindow(start + 60_000))));
    expect(again.sequence).toBeGreaterThan(first.sequence + 50);
    expect(again.timeline).not.toBe(first.timeline);
    expect(again.timeline).toBeLessThan(5_000);
    expect(emptied(fill(stream(3, 4))).nextSequence).toBe(fill(stream(3, 4)).nextSequence);
  });
});

describe('a window', () => {
  it('keeps a segment for a while after it has left the manifest', () => {
    const window = fill(stream(200, 4));
    const { names, sequence } = read(manifest(window));
    for (const name of [...names, `${sequence - 10}.ts`]) expect(segmentNamed(window, name)).toBeDefined();
    for (const name of [`${sequence - 60}.ts`, 'x.ts', '', `0${sequence}.ts`, `${sequence}`, '__proto__']) {
      expect(segmentNamed(window, name)).toBeUndefined();
    }
  });

  it('is bounded, though no keyframe ever comes', () => {
    const megabyte = Buffer.alloc(2 ** 20);
    const window = fill(Array.from({ length: 200 }, (_, n) => segment(0.5, n === 0, megabyte)));
    expect(window.entries.length).toBeLessThanOrEqual(64);
    expect(read(manifest(window)).offset).toBeCloseTo(0);
  });

  it('holds what its manifest lists, and begins with a keyframe, whatever the stream', () => {
    const anySegment = fc.record({
      duration: fc.double({ min: 0.04, max: 3, noNaN: true }),
      independent: fc.boolean(),
      isAnew: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anySegment, { minLength: 1, maxLength: 120 }), (segments) => {
        let window = emptyWindow(start);
        let previous: ReturnType<typeof read> | undefined;
        /** The discontinuity tags that have been in a manifest, or were removed before (RFC 8216, 6.2.2). */
        const tagsOf = ({ timeline, discontinuities }: ReturnType<typeof read>) => timeline + discontinuities;
        for (const [n, { duration, independent, isAnew }] of segments.entries()) {
          const isFirst = n === 0 || isAnew;
          window = append(isFirst ? nextTimeline(window) : window, segment(duration, independent || isFirst));
          const now = read(manifest(window));
          const { names, sequence, durations, offset, target } = now;
          if (previous !== undefined) {
            expect(sequence).toBeGreaterThanOrEqual(previous.sequence);
            expect(target).toBe(previous.target);
            expect(tagsOf(now) - tagsOf(previous)).toBe(isAnew ? 1 : 0);
          }
          previous = now;
          expect(names).toEqual(names.map((_, index) => `${sequence + index}.ts`));
          const [first] = window.entries.filter((entry) => entry.sequence === sequence);
          expect(first?.independent).toBe(true);
          expect(target).toBeGreaterThanOrEqual(Math.round(Math.max(...durations)));
          expect(-offset).toBeLessThanOrEqual(durations.reduce((sum, one) => sum + one, 0.01));
        }
      }),
    );
  });
});
