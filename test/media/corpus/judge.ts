/** What a passer-by sees of files, by the pixels of a page and by its plays. */
import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Play } from '../../../service/contract/plays.ts';
import type { Rgb } from '../../support/media.ts';
import { type Frame, record } from '../../support/screencast.ts';
import type { TestService } from '../../support/service.ts';
import type { Sample } from './sample.ts';

/** How long a slide may be on beyond its length, or less, s: pages share two processors with conversions. */
const TOLERANCE = 1;

/** The colour as a letter: red, yellow, green, blue, white, dark; `?`: another. */
const letterOf = ([red, green, blue]: Rgb): string => {
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  if (most < 48) return 'k';
  if (least > 120 && most - least < 60) return 'w';
  const isHigh = [red, green, blue].map((part) => (part > least + (most - least) * 0.6 ? 1 : 0)).join('');
  return { '100': 'r', '110': 'y', '010': 'g', '001': 'b' }[isHigh] ?? '?';
};

const middle = ({ points }: Frame): string => letterOf(points[12] ?? [0, 0, 0]);
const corner = ({ points }: Frame): string => letterOf(points[0] ?? [0, 0, 0]);

/** Without repetitions. */
const phases = (letters: readonly string[]): string =>
  letters.filter((letter, at) => letter !== letters[at - 1]).join('');

const faultsOf = (sample: Sample, bytes: Buffer, play: Play | undefined, frames: readonly Frame[]): string[] => {
  const { kind, rendition, seconds, isCut = false, isUnmarked = false, isSkipped = rendition === 'failed' } = sample;
  if (play === undefined) return ['no play'];
  if (isSkipped) return play.result === 'skipped' || play.result === 'failed' ? [] : [`was ${play.result}`];
  if (play.result !== 'played') return [`was ${play.result}: ${play.reason}`];
  const [start, end] = [play.started_at, play.ended_at].map((time) => Date.parse(time) / 1000) as [number, number];
  // What does not move is drawn once, at times before the play begins.
  const before = kind === 'video' ? [] : frames.filter(({ at }) => at < start).slice(-1);
  const seen = [...before, ...frames.filter(({ at }) => at >= start && at <= end)];
  const order = phases(seen.map(middle));
  const expected = kind !== 'video' ? /^.?b.?$/ : isCut ? /^.?ry?g?.?$/ : /^.?ryg.?$/;
  const took = play.duration_ms / 1000;
  // What does not move stays until its successor is ready.
  const longest = kind === 'video' ? seconds + TOLERANCE : Number.POSITIVE_INFINITY;
  const isLong = took <= longest && (isCut || took >= seconds - TOLERANCE);
  return [
    ...(expected.test(order) ? [] : [`shows ${order}`]),
    ...(order.includes('k') ? ['is dark'] : []),
    ...(isUnmarked || seen.some((frame) => corner(frame) === 'w')
      ? []
      : [`has no white corner, but ${phases(seen.map(corner))}`]),
    ...(isLong ? [] : [`took ${took} s instead of ${seconds}`]),
    ...(play.media_sha256 === createHash('sha256').update(bytes).digest('hex') ? [] : ['the play has another hash']),
  ];
};

/** Watches a page that plays a slide of each sample, whose id is its name, and says what is wrong with each. */
export const watch = async (page: Page, box: TestService, samples: ReadonlyMap<Sample, Buffer>) => {
  const recording = await record(page);
  const playsOf = async (): Promise<Play[]> => (await (await fetch(`${box.url}/console/api/plays`)).json()) as Play[];
  const from = Date.now();
  const own = async (): Promise<Play[]> =>
    (await playsOf()).filter(({ node_id, started_at }) => node_id === box.nodeId && Date.parse(started_at) >= from);
  return {
    async judge(): Promise<string[]> {
      const isOver = async (): Promise<string[]> => {
        const plays = await own();
        return [...samples.keys()]
          .map(({ name }) => name)
          .filter((name) => !plays.some(({ slide_id }) => slide_id === name));
      };
      await expect.poll(isOver, { timeout: 30_000 + samples.size * 15_000, interval: 500 }).toEqual([]);
      const frames = await recording.stop();
      const plays = await own();
      return [...samples].flatMap(([sample, bytes]) => {
        const mine = plays.filter(({ slide_id }) => slide_id === sample.name);
        const play = mine.find(({ result }) => result !== 'cut') ?? mine[0];
        return faultsOf(sample, bytes, play, frames).map((fault) => `${sample.name} ${fault}`);
      });
    },
  };
};
