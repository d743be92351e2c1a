/**
 * - `starting`: ffmpeg runs but has not produced media yet.
 * - `live`: media is arriving.
 * - `quiet`: no media for a while; ffmpeg was sent SIGCONT in case it was suspended.
 * - `stalled`: ffmpeg was sent SIGTERM, because media stopped or because it needs a different plan.
 * - `backoff`: no ffmpeg; it is started again after a delay.
 * - `failed`: no ffmpeg; it failed too often without client requests. The next request starts it.
 * - `ending`: the stream is closed and ffmpeg was sent SIGTERM. `ended`: ffmpeg has exited.
 */
import { doubled } from '../domain/backoff.ts';

export type Phase = 'starting' | 'live' | 'quiet' | 'stalled' | 'backoff' | 'failed' | 'ending' | 'ended';

/** The state of one stream. Times are milliseconds of a monotonic clock. */
export interface Life {
  phase: Phase;
  /** When the phase times out. */
  dueAt: number;
  /** When a client last requested the stream. */
  askedAt: number;
  /** When the latest run of ffmpeg started, produced its first media, and produced its latest media. */
  startedAt: number;
  liveAt: number | null;
  mediaAt: number;
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

/** How long ffmpeg may take to produce media, in ms: a source may have long keyframe intervals. */
const startPatience = 20_000;
/** A process that was suspended (SIGSTOP) ignores SIGTERM. */
const killAfter = 2_000;
const backoff = { min: 500, max: 30_000 };
/** The longest and shortest interval between starts, in ms, while clients request the stream. */
const wanted = { within: 5_000, every: 2_000 };
const steadyAfter = 60_000;
/** How often a stream may fail without client requests, and how often a better plan is tried without a delay. */
const patience = { failures: 6, plans: 3 };
const never = Number.POSITIVE_INFINITY;

const freshRun = (now: number) => ({
  phase: 'starting' as const,
  dueAt: now + startPatience,
  startedAt: now,
  liveAt: null,
  longest: 0,
  swift: false,
});

/** The state of a newly requested stream. */
export const begin = (now: number): [Life, Action] => [
  { ...freshRun(now), askedAt: now, mediaAt: Number.NEGATIVE_INFINITY, failures: 0 },
  'run',
];

/** Whether the output of ffmpeg is used. */
export const isRunning = ({ phase }: Life): boolean => phase === 'starting' || phase === 'live' || phase === 'quiet';

/** Whether the stream is closed. */
export const isOver = ({ phase }: Life): boolean => phase === 'ending' || phase === 'ended';

/** How long without media until a live stream is quiet, and then until it is stalled, in ms. */
const silence = ({ longest }: Life): number => Math.max(3_000, 1.5 * longest);

const stop = (life: Life, phase: 'stalled' | 'ending', now: number): [Life, Action] => [
  { ...life, phase, dueAt: now + killAfter },
  'terminate',
];

const end = (life: Life, now: number): [Life, Action] => {
  if (isRunning(life)) return stop(life, 'ending', now);
  return [life.phase === 'stalled' ? { ...life, phase: 'ending' } : { ...life, phase: 'ended', dueAt: never }, null];
};

const onAsked = (life: Life, now: number): Life => {
  if (life.phase !== 'backoff' && life.phase !== 'failed') return { ...life, askedAt: now };
  const soon = Math.max(now, life.startedAt + wanted.every);
  return { ...life, askedAt: now, phase: 'backoff', dueAt: Math.min(life.dueAt, soon) };
};

const onMedia = (life: Life, duration: number, now: number): Life => {
  const liveAt = life.liveAt ?? now;
  const failures = now - liveAt >= steadyAfter ? 0 : life.failures;
  const heard = { ...life, phase: 'live' as const, liveAt, mediaAt: now, failures };
  const longest = Math.max(life.longest, duration);
  return { ...heard, longest, dueAt: now + silence({ ...heard, longest }) };
};

const onExit = (life: Life, roll: number, now: number): Life => {
  const failures = life.failures + 1;
  const isWanted = now - life.askedAt <= wanted.within;
  if (!isWanted && failures > patience.failures) return { ...life, phase: 'failed', failures, dueAt: never };
  const pause = life.swift ? 0 : roll * doubled(life.failures, backoff.min, backoff.max);
  const latest = isWanted ? Math.max(now, life.startedAt + wanted.every) : never;
  return { ...life, phase: 'backoff', failures, dueAt: Math.min(now + pause, latest) };
};

const onDue = (life: Life, now: number): [Life, Action] => {
  if (life.phase === 'backoff') return [{ ...life, ...freshRun(now) }, 'run'];
  if (life.phase === 'live') return [{ ...life, phase: 'quiet', dueAt: now + silence(life) }, 'resume'];
  return isRunning(life) ? stop(life, 'stalled', now) : [{ ...life, dueAt: never }, 'kill'];
};

/**
 * The transition function: returns the next state and the action for an event at time `now`.
 * @param idleAfter how long a stream runs without client requests, in ms
 */
export const step = (life: Life, event: Event, now: number, idleAfter: number): [Life, Action] => {
  const unchanged: [Life, Action] = [life, null];
  if (life.phase === 'ended') return unchanged;
  if (life.phase === 'ending') {
    if (event.type === 'exit') return [{ ...life, phase: 'ended', dueAt: never }, null];
    return event.type === 'tick' && now >= life.dueAt ? onDue(life, now) : unchanged;
  }
  switch (event.type) {
    case 'asked':
      return [onAsked(life, now), null];
    case 'media':
      return isRunning(life) ? [onMedia(life, event.duration, now), null] : unchanged;
    case 'misfit':
      return isRunning(life) ? stop({ ...life, swift: life.failures < patience.plans }, 'stalled', now) : unchanged;
    case 'exit':
      return [onExit(life, event.roll, now), null];
    case 'close':
      return end(life, now);
    case 'tick':
      if (now >= life.askedAt + idleAfter) return end(life, now);
      return now >= life.dueAt ? onDue(life, now) : unchanged;
  }
};

/** When the stream needs its next `tick` event, on the same clock. */
export const wakeAt = (life: Life, idleAfter: number): number =>
  isOver(life) ? life.dueAt : Math.min(life.dueAt, life.askedAt + idleAfter);
