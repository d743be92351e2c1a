import type { Segment } from './segmenter.ts';

interface Entry extends Segment {
  sequence: number;
  /** Which run of the source it comes from: time stamps continue only within one. */
  timeline: number;
}

/** What a session holds of its stream: the newest segments, oldest first. */
export interface Window {
  entries: readonly Entry[];
  nextSequence: number;
  /** That of the newest segment. */
  timeline: number;
  /** The next segment begins another timeline. */
  isCut: boolean;
  /** EXT-X-TARGETDURATION, the same for as long as there is a manifest (RFC 8216, 6.2.1); null: there is none. */
  target: number | null;
}

/** How much the manifest lists, where a player starts before its end, and how much can be fetched, in seconds. */
const listedSeconds = 8;
const startSeconds = 1;
const keptSeconds = 20;
/**
 * How far inside its segment the place to start is. On its very edge rounding may put it into the segment before; and
 * where hls.js finds no keyframe in the first segment that it loads, it plays the sound alone, for good.
 */
const insideSeconds = 0.01;
/** However long a stream goes without a keyframe, it is not held beyond this. */
const keptBytes = 64 * 2 ** 20;

/**
 * A window with nothing in it. Its numbers start from the clock (ms since the epoch), so that a player that held on
 * takes nothing for what it has seen before: not in a session that is made anew, nor in a service that was restarted.
 * The timelines' numbers stay small, for hls.js keeps an array that long: a great one freezes the page.
 */
export const emptyWindow = (now: number): Window => ({
  entries: [],
  nextSequence: Math.floor(now / 100),
  timeline: Math.floor(now / 1000) % 4096,
  isCut: false,
  target: null,
});

/** The window without its segments: its manifest ends, and another may begin. */
export const emptied = (window: Window): Window => ({ ...window, entries: [], target: null });

/** The window as the next run of the source finds it. One that makes no segment is no discontinuity (6.2.2). */
export const nextTimeline = (window: Window): Window => ({ ...window, isCut: true });

/** The newest keyframe segment that begins at least `seconds` before the end, else the oldest; and how long before. */
const keyframeBefore = (entries: readonly Entry[], seconds: number): { index: number; age: number } => {
  let found = { index: 0, age: 0 };
  let age = 0;
  for (const [index, { duration, independent }] of [...entries.entries()].reverse()) {
    age += duration;
    if (independent) found = { index, age };
    if (independent && age >= seconds) break;
  }
  return found;
};

/** What is rounded to no more than the target duration; rarely, a source holds a frame for longer than ever before. */
const fitting = (duration: number, target: number): number => Math.min(duration, target + 0.499);

/** The window with one more segment, and without those that nobody can still want. */
export const append = (window: Window, segment: Segment): Window => {
  const { nextSequence: sequence, isCut } = window;
  const timeline = window.timeline + (isCut ? 1 : 0);
  const target = window.target ?? Math.max(1, Math.round(segment.duration));
  const entries = [...window.entries, { ...segment, duration: fitting(segment.duration, target), sequence, timeline }];
  const listed = keyframeBefore(entries, listedSeconds).index;
  let seconds = entries.reduce((sum, { duration }) => sum + duration, 0);
  let bytes = entries.reduce((sum, { data }) => sum + data.length, 0);
  let first = 0;
  for (const { duration, data } of entries) {
    if (bytes <= keptBytes && (first >= listed || seconds - duration < keptSeconds)) break;
    seconds -= duration;
    bytes -= data.length;
    first += 1;
  }
  return { entries: entries.slice(first), nextSequence: sequence + 1, timeline, isCut: false, target };
};

const nameOf = ({ sequence }: Entry) => `${sequence}.ts`;

/** The segment of this name; undefined where there is none, or none any more. */
export const segmentNamed = (window: Window, name: string): Buffer | undefined =>
  window.entries.find((entry) => nameOf(entry) === name)?.data;

/**
 * The window as a media playlist (RFC 8216). It begins with a keyframe, and tells players that join to start at a
 * newer one. Segments between keyframes can't be decoded alone, so it does not claim EXT-X-INDEPENDENT-SEGMENTS.
 */
export const manifest = ({ entries, target }: Window): string => {
  const listed = entries.slice(keyframeBefore(entries, listedSeconds).index);
  const [first] = listed;
  const newest = listed.filter(({ timeline }) => timeline === listed.at(-1)?.timeline);
  const offset = Math.max(0, keyframeBefore(newest, startSeconds).age - insideSeconds);
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:3',
    `#EXT-X-TARGETDURATION:${target ?? 1}`,
    `#EXT-X-MEDIA-SEQUENCE:${first?.sequence ?? 0}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${first?.timeline ?? 0}`,
    `#EXT-X-START:TIME-OFFSET=-${offset.toFixed(3)}`,
  ];
  let timeline = first?.timeline;
  for (const entry of listed) {
    if (entry.timeline !== timeline) lines.push('#EXT-X-DISCONTINUITY');
    timeline = entry.timeline;
    lines.push(`#EXTINF:${entry.duration.toFixed(5)},`, nameOf(entry));
  }
  return `${lines.join('\n')}\n`;
};
