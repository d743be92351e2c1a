import type { Segment } from './segmenter.ts';

interface Entry extends Segment {
  sequence: number;
  /** The number of the ffmpeg run it comes from: time stamps are continuous only within one run. */
  timeline: number;
}

/** The segments that a session keeps in memory, oldest first. */
export interface Window {
  entries: readonly Entry[];
  nextSequence: number;
  /** The timeline of the newest segment. */
  timeline: number;
  /** The next segment begins a new timeline. */
  isCut: boolean;
  /** EXT-X-TARGETDURATION, which must not change while there is a manifest (RFC 8216, 6.2.1); null: no manifest. */
  target: number | null;
}

/** In seconds: the length of the manifest, where players start before its end, how much can still be fetched. */
const listedSeconds = 8;
const startSeconds = 1;
const keptSeconds = 20;
/**
 * How far inside its segment the start position is, in seconds. At the edge, rounding may move it into the previous
 * segment, and if hls.js finds no keyframe in the first segment that it loads, it plays only sound from then on.
 */
const insideSeconds = 0.01;
/** The memory limit of a window, also for a stream without keyframes. */
const keptBytes = 64 * 2 ** 20;

/**
 * An empty window. Its numbers start from the clock (ms since the epoch), so that a player that stays connected does not
 * mistake a new segment for an old one after the session or the service is restarted. Timeline numbers stay small,
 * because hls.js allocates an array of that length, and a long one freezes the page.
 */
export const emptyWindow = (now: number): Window => ({
  entries: [],
  nextSequence: Math.floor(now / 100),
  timeline: Math.floor(now / 1000) % 4096,
  isCut: false,
  target: null,
});

/** The window without its segments: the manifest ends, and a new one may begin. */
export const emptied = (window: Window): Window => ({ ...window, entries: [], target: null });

/** The window for the next ffmpeg run. A run without segments counts as no discontinuity (RFC 8216, 6.2.2). */
export const nextTimeline = (window: Window): Window => ({ ...window, isCut: true });

/** The newest keyframe segment that begins at least `seconds` before the end, else the oldest; `age`: how long before. */
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

/** Limits a duration so that it rounds to at most the target duration, which a long pause of the source may exceed. */
const fitting = (duration: number, target: number): number => Math.min(duration, target + 0.499);

/** The window with one more segment, and without those that no player can still request. */
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

/** The data of a segment by name; undefined if it does not exist or was dropped. */
export const segmentNamed = (window: Window, name: string): Buffer | undefined =>
  window.entries.find((entry) => nameOf(entry) === name)?.data;

/**
 * The window as a media playlist (RFC 8216). It begins with a keyframe, and new players can start at a newer one.
 * Segments between keyframes cannot be decoded alone, so it does not set EXT-X-INDEPENDENT-SEGMENTS.
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
