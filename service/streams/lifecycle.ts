/**
 * - `starting`: ffmpeg runs but has not produced media yet.
 * - `live`: media is arriving.
 * - `quiet`: no media for a while; ffmpeg was sent SIGCONT in case it was suspended.
 * - `stalled`: ffmpeg was sent SIGTERM, because media stopped or because it needs a different plan.
 * - `backoff`: no ffmpeg; it is started again after a delay.
 * - `failed`: no ffmpeg; it failed too often without client requests. The next request starts it.
 * - `ending`: the stream is closed and ffmpeg was sent SIGTERM. `ended`: ffmpeg has exited.
 */
import { doubled, type MonotonicMs } from '../domain/time.ts';
import type { Tempo } from '../tempo.ts';

export type Phase = 'starting' | 'live' | 'quiet' | 'stalled' | 'backoff' | 'failed' | 'ending' | 'ended';

/** The state of one stream. */
export interface Life {
  phase: Phase;
  /** When the phase times out. */
  dueAt: MonotonicMs;
  /** When a client last requested the stream. */
  askedAt: MonotonicMs;
  /** When the latest run of ffmpeg started, produced its first media, and produced its latest media. */
  startedAt: MonotonicMs;
  liveAt: MonotonicMs | null;
  mediaAt: MonotonicMs;
  /** The longest segment of the run, in ms. */
  longest: number;
  /** Runs that ended since the stream was last stable. */
  failures: number;
  /** Whether the next run starts without a delay, because it has a better plan. */
  swift: boolean;
}

export type Event =
  | { type: 'asked' }
  | { type: 'media'; duration: number }
  | { type: 'misfit' }
  /** `roll`: a random number from 0 to 1 for the jitter of the delay before the next run. */
  | { type: 'exit'; roll: number }
  | { type: 'close' }
  | { type: 'tick' };

/** What the caller must do with ffmpeg. */
export type Action = 'run' | 'resume' | 'terminate' | 'kill' | null;

export interface Timing extends Readonly<Tempo['streams']> {
  /** How long a stream runs without client requests, ms. */
  idle: number;
}

/** How often a stream may fail without client requests, and how often a better plan is tried without a delay. */
const patience = { failures: 6, plans: 3 };
const never = Number.POSITIVE_INFINITY;

const freshRun = (now: MonotonicMs, { start }: Timing) => ({
  phase: 'starting' as const,
  dueAt: now + start,
  startedAt: now,
  liveAt: null,
  longest: 0,
  swift: false,
});

/** The state of a newly requested stream. */
export const begin = (now: MonotonicMs, timing: Timing): [Life, Action] => [
  { ...freshRun(now, timing), askedAt: now, mediaAt: Number.NEGATIVE_INFINITY, failures: 0 },
  'run',
];

/** Whether the output of ffmpeg is used. */
export const isRunning = ({ phase }: Life): boolean => phase === 'starting' || phase === 'live' || phase === 'quiet';

/** Whether the stream is closed. */
export const isOver = ({ phase }: Life): boolean => phase === 'ending' || phase === 'ended';

/** How long without media until a live stream is quiet, and then until it is stalled, in ms. */
const silence = ({ longest }: Life, { quiet }: Timing): number => Math.max(quiet, 1.5 * longest);

const stop = (life: Life, phase: 'stalled' | 'ending', now: MonotonicMs, { kill }: Timing): [Life, Action] => [
  { ...life, phase, dueAt: now + kill },
  'terminate',
];

const end = (life: Life, now: MonotonicMs, timing: Timing): [Life, Action] => {
  if (isRunning(life)) return stop(life, 'ending', now, timing);
  return [life.phase === 'stalled' ? { ...life, phase: 'ending' } : { ...life, phase: 'ended', dueAt: never }, null];
};

const onAsked = (life: Life, now: MonotonicMs, { startEvery }: Timing): Life => {
  if (life.phase !== 'backoff' && life.phase !== 'failed') return { ...life, askedAt: now };
  const soon = Math.max(now, life.startedAt + startEvery);
  return { ...life, askedAt: now, phase: 'backoff', dueAt: Math.min(life.dueAt, soon) };
};

const onMedia = (life: Life, duration: number, now: MonotonicMs, timing: Timing): Life => {
  const liveAt = life.liveAt ?? now;
  const failures = now - liveAt >= timing.steady ? 0 : life.failures;
  const heard = { ...life, phase: 'live' as const, liveAt, mediaAt: now, failures };
  const longest = Math.max(life.longest, duration);
  return { ...heard, longest, dueAt: now + silence({ ...heard, longest }, timing) };
};

const onExit = (life: Life, roll: number, now: MonotonicMs, timing: Timing): Life => {
  const { requested, startEvery, retry, maxRetry } = timing;
  const failures = life.failures + 1;
  const isWanted = now - life.askedAt <= requested;
  if (!isWanted && failures > patience.failures) return { ...life, phase: 'failed', failures, dueAt: never };
  const pause = life.swift ? 0 : roll * doubled(life.failures, retry, maxRetry);
  const latest = isWanted ? Math.max(now, life.startedAt + startEvery) : never;
  return { ...life, phase: 'backoff', failures, dueAt: Math.min(now + pause, latest) };
};

const onDue = (life: Life, now: MonotonicMs, timing: Timing): [Life, Action] => {
  if (life.phase === 'backoff') return [{ ...life, ...freshRun(now, timing) }, 'run'];
  if (life.phase === 'live') return [{ ...life, phase: 'quiet', dueAt: now + silence(life, timing) }, 'resume'];
  return isRunning(life) ? stop(life, 'stalled', now, timing) : [{ ...life, dueAt: never }, 'kill'];
};

/** The transition function: returns the next state and the action for an event at time `now`. */
export const step = (life: Life, event: Event, now: MonotonicMs, timing: Timing): [Life, Action] => {
  const unchanged: [Life, Action] = [life, null];
  if (life.phase === 'ended') return unchanged;
  if (life.phase === 'ending') {
    if (event.type === 'exit') return [{ ...life, phase: 'ended', dueAt: never }, null];
    return event.type === 'tick' && now >= life.dueAt ? onDue(life, now, timing) : unchanged;
  }
  switch (event.type) {
    case 'asked':
      return [onAsked(life, now, timing), null];
    case 'media':
      return isRunning(life) ? [onMedia(life, event.duration, now, timing), null] : unchanged;
    case 'misfit':
      if (!isRunning(life)) return unchanged;
      return stop({ ...life, swift: life.failures < patience.plans }, 'stalled', now, timing);
    case 'exit':
      return [onExit(life, event.roll, now, timing), null];
    case 'close':
      return end(life, now, timing);
    case 'tick':
      if (now >= life.askedAt + timing.idle) return end(life, now, timing);
      return now >= life.dueAt ? onDue(life, now, timing) : unchanged;
  }
};

/** When the stream needs its next `tick` event, on the same clock. */
export const wakeAt = (life: Life, timing: Timing): number =>
  isOver(life) ? life.dueAt : Math.min(life.dueAt, life.askedAt + timing.idle);
