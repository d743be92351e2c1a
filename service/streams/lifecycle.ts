/**
 * - `starting`: ffmpeg runs, nothing has come of it yet.
 * - `live`: media is arriving.
 * - `quiet`: none has come for a while; ffmpeg was told to go on, in case it was suspended.
 * - `stalled`: ffmpeg was told to stop, because nothing came any more or because it needs another plan.
 * - `backoff`: no ffmpeg; the next one starts by itself.
 * - `failed`: no ffmpeg; it failed too often while nobody asked. The next who asks starts one.
 * - `ending`: ffmpeg was told to stop, for good. `ended`: it has.
 */
export type Phase = 'starting' | 'live' | 'quiet' | 'stalled' | 'backoff' | 'failed' | 'ending' | 'ended';

/** One stream's life. Times are milliseconds of a clock that never goes back. */
export interface Life {
  phase: Phase;
  /** When the phase is over by itself. */
  dueAt: number;
  /** When somebody last asked for the stream. */
  askedAt: number;
  /** When the newest run of ffmpeg began, its first media came, its latest media came. */
  startedAt: number;
  liveAt: number | null;
  mediaAt: number;
  /** The longest segment of the run. */
  longest: number;
  /** Runs that ended since the stream was last steady. */
  failures: number;
  /** Whether the next run follows at once: it will do better than this one. */
  swift: boolean;
}

export type Event =
  | { type: 'asked' }
  | { type: 'media'; duration: number }
  | { type: 'misfit' }
  /** `roll`: a random number from 0 to 1 that the pause before the next run is taken from. */
  | { type: 'exit'; roll: number }
  | { type: 'close' }
  | { type: 'tick' };

/** What is to be done to ffmpeg. */
export type Action = 'run' | 'resume' | 'terminate' | 'kill' | null;

/** A source with keyframes far apart shows nothing before the first of them. */
const startPatience = 20_000;
/** A process that was suspended (SIGSTOP) ignores SIGTERM. */
const killAfter = 2_000;
const backoff = { least: 500, most: 30_000 };
/** While somebody asks, the stream has to be back soon after its source: so often it is tried, at least and at most. */
const wanted = { within: 5_000, every: 2_000 };
const steadyAfter = 60_000;
/** How often a stream that nobody asks for may fail, and how often a better plan is tried without a pause. */
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

/** A stream that was just asked for. */
export const begin = (now: number): [Life, Action] => [
  { ...freshRun(now), askedAt: now, mediaAt: Number.NEGATIVE_INFINITY, failures: 0 },
  'run',
];

/** Whether what ffmpeg makes counts. */
export const isRunning = ({ phase }: Life): boolean => phase === 'starting' || phase === 'live' || phase === 'quiet';

/** Whether nothing more will come of the stream. */
export const isOver = ({ phase }: Life): boolean => phase === 'ending' || phase === 'ended';

/** How long media may stay away before a live stream is quiet, and as long again before it has stalled. */
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
  const pause = life.swift ? 0 : roll * Math.min(backoff.most, backoff.least * 2 ** life.failures);
  const latest = isWanted ? Math.max(now, life.startedAt + wanted.every) : never;
  return { ...life, phase: 'backoff', failures, dueAt: Math.min(now + pause, latest) };
};

const onDue = (life: Life, now: number): [Life, Action] => {
  if (life.phase === 'backoff') return [{ ...life, ...freshRun(now) }, 'run'];
  if (life.phase === 'live') return [{ ...life, phase: 'quiet', dueAt: now + silence(life) }, 'resume'];
  return isRunning(life) ? stop(life, 'stalled', now) : [{ ...life, dueAt: never }, 'kill'];
};

/**
 * What becomes of a stream when something happens to it at a time, and what is to be done.
 * @param idleAfter how long a stream lives that nobody asks for, in ms
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

/** When the stream next needs a tick, on the same clock. */
export const wakeAt = (life: Life, idleAfter: number): number =>
  isOver(life) ? life.dueAt : Math.min(life.dueAt, life.askedAt + idleAfter);
