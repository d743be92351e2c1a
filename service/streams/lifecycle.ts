/**
 * - `starting`: ffmpeg runs, nothing has come of it yet.
 * - `live`: media is arriving.
 * - `stalled`: ffmpeg was told to stop, because nothing came any more or because it needs another plan.
 * - `backoff`: no ffmpeg; the next one starts by itself.
 * - `failed`: no ffmpeg; it failed too often while nobody asked. The next who asks starts one.
 * - `ending`: ffmpeg was told to stop, for good. `ended`: it has.
 */
export type Phase = 'starting' | 'live' | 'stalled' | 'backoff' | 'failed' | 'ending' | 'ended';

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
export type Action = 'run' | 'terminate' | 'kill' | null;

/** A source with keyframes far apart shows nothing before the first of them. */
const startPatience = 20_000;
const livePatience = 6_000;
/** A process that was stopped (SIGSTOP) ignores SIGTERM. */
const killAfter = 2_000;
const backoff = { least: 500, most: 30_000 };
/** While somebody asks, the stream has to be back soon after its source: so often it is tried, at least and at most. */
const wanted = { within: 5_000, every: 2_000 };
const steadyAfter = 60_000;
/** How often a stream that nobody asks for may fail, and how often a better plan is tried without a pause. */
const patience = { failures: 6, plans: 3 };

/** A stream that was just asked for. */
export const begin = (now: number): [Life, Action] => [
  {
    phase: 'starting',
    dueAt: now + startPatience,
    askedAt: now,
    startedAt: now,
    liveAt: null,
    mediaAt: Number.NEGATIVE_INFINITY,
    longest: 0,
    failures: 0,
    swift: false,
  },
  'run',
];

/** Whether what ffmpeg makes counts. */
export const isRunning = ({ phase }: Life): boolean => phase === 'starting' || phase === 'live';

/** Whether nothing more will come of the stream. */
export const isOver = ({ phase }: Life): boolean => phase === 'ending' || phase === 'ended';

const stop = (life: Life, phase: 'stalled' | 'ending', now: number): [Life, Action] => [
  { ...life, phase, dueAt: now + killAfter },
  'terminate',
];

function end(life: Life, now: number): [Life, Action] {
  if (isRunning(life)) return stop(life, 'ending', now);
  if (life.phase === 'stalled') return [{ ...life, phase: 'ending' }, null];
  return [life.phase === 'ending' ? life : { ...life, phase: 'ended', dueAt: Number.POSITIVE_INFINITY }, null];
}

function exited(life: Life, roll: number, now: number): Life {
  if (life.phase === 'ending') return { ...life, phase: 'ended', dueAt: Number.POSITIVE_INFINITY };
  const failures = life.failures + 1;
  const isWanted = now - life.askedAt <= wanted.within;
  if (!isWanted && failures > patience.failures) {
    return { ...life, phase: 'failed', failures, dueAt: Number.POSITIVE_INFINITY };
  }
  const pause = roll * Math.min(backoff.most, backoff.least * 2 ** (failures - 1));
  const latest = isWanted ? Math.max(now, life.startedAt + wanted.every) : Number.POSITIVE_INFINITY;
  return { ...life, phase: 'backoff', failures, dueAt: life.swift ? now : Math.min(now + pause, latest) };
}

function ticked(life: Life, now: number, idleAfter: number): [Life, Action] {
  if (life.phase === 'ended') return [life, null];
  if (!isOver(life) && now >= life.askedAt + idleAfter) return end(life, now);
  if (now < life.dueAt) return [life, null];
  if (life.phase === 'backoff') {
    return [
      {
        ...life,
        phase: 'starting',
        dueAt: now + startPatience,
        startedAt: now,
        liveAt: null,
        longest: 0,
        swift: false,
      },
      'run',
    ];
  }
  return isRunning(life) ? stop(life, 'stalled', now) : [{ ...life, dueAt: Number.POSITIVE_INFINITY }, 'kill'];
}

/**
 * What becomes of a stream when something happens to it at a time, and what is to be done.
 * @param idleAfter how long a stream lives that nobody asks for, in ms
 */
export function step(life: Life, event: Event, now: number, idleAfter: number): [Life, Action] {
  switch (event.type) {
    case 'asked': {
      const asked = { ...life, askedAt: now };
      const resting = life.phase === 'backoff' || life.phase === 'failed';
      if (!resting) return [asked, null];
      const soon = Math.max(now, life.startedAt + wanted.every);
      return [{ ...asked, phase: 'backoff', dueAt: Math.min(life.dueAt, soon) }, null];
    }
    case 'media': {
      if (!isRunning(life)) return [life, null];
      const liveAt = life.liveAt ?? now;
      const longest = Math.max(life.longest, event.duration);
      const failures = now - liveAt >= steadyAfter ? 0 : life.failures;
      const dueAt = now + Math.max(livePatience, 3 * longest);
      return [{ ...life, phase: 'live', liveAt, mediaAt: now, longest, failures, dueAt }, null];
    }
    case 'misfit':
      return isRunning(life) ? stop({ ...life, swift: life.failures < patience.plans }, 'stalled', now) : [life, null];
    case 'exit':
      return [exited(life, event.roll, now), null];
    case 'close':
      return end(life, now);
    case 'tick':
      return ticked(life, now, idleAfter);
  }
}

/** When the stream next needs a tick, on the same clock. */
export const wakeAt = (life: Life, idleAfter: number): number =>
  isOver(life) ? life.dueAt : Math.min(life.dueAt, life.askedAt + idleAfter);
