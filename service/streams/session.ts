import type { Logger } from 'pino';
import { begin, type Event, isOver, isRunning, type Phase, step, type Timing, wakeAt } from './lifecycle.ts';
import { append, emptied, emptyWindow, manifest, nextTimeline, segmentNamed } from './manifest.ts';
import type { Plan } from './plan.ts';
import { type Launcher, type Run, startRun } from './run.ts';
import type { Segment } from './segmenter.ts';
import type { StreamSource } from './source.ts';

interface Dependencies {
  log: Logger;
  launcher: Launcher;
  /** The plan of an earlier session of the source, else the default plan. */
  plan: Plan;
  /** Called when the session has a better plan for the source. */
  onPlan(plan: Plan): void;
  /** Called with each start of ffmpeg after the first. */
  onRestart(): void;
  /** Called when the session ends; its ffmpeg may still be running. */
  onEnd(): void;
}

/** One running stream, which ends when no client requests it. */
export type Session = ReturnType<typeof createSession>;

export const createSession = (
  source: StreamSource,
  { log, launcher, plan: firstPlan, onPlan, onRestart, onEnd }: Dependencies,
  timing: Timing,
) => {
  const now = () => performance.now();
  let [life, action] = begin(now(), timing);
  let plan = firstPlan;
  let window = emptyWindow(Date.now());
  let run: Run | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Completes "the stream ..."; null: media arrives, or it is not known yet why none does. */
  let failure: string | null = null;
  let resolveEnded: () => void;
  const ended = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });

  const isReady = () => window.entries.length > 0 && now() - life.mediaAt < timing.fresh;

  const onSegment = (segment: Segment): void => {
    if (!isRunning(life)) return;
    window = append(window, segment);
    failure = null;
    handle({ type: 'media', duration: 1000 * segment.duration });
  };

  const onMisfit = (better: Plan): void => {
    if (!isRunning(life)) return;
    // Segments made with the previous plan may be unplayable.
    if (better !== plan) window = emptied(window);
    plan = better;
    onPlan(better);
    handle({ type: 'misfit' });
    failure = null;
  };

  const onExit = (reason: string): void => {
    log[life.failures === 0 ? 'info' : 'debug']({ reason }, 'ffmpeg exited');
    if (isRunning(life)) failure = `failed: ${reason.replace(`${source.display}: `, '')}`;
    handle({ type: 'exit', roll: Math.random() });
  };

  const perform = {
    run: () => {
      if (run !== undefined) onRestart();
      window = nextTimeline(isReady() ? window : emptied(window));
      run = startRun(source, plan, launcher, { segment: onSegment, misfit: onMisfit, exited: onExit });
    },
    resume: () => run?.signal('SIGCONT'),
    terminate: () => {
      failure = 'sends no media';
      run?.signal('SIGTERM');
    },
    kill: () => run?.signal('SIGKILL'),
  };

  const settle = (): void => {
    if (action !== null) perform[action]();
    clearTimeout(timer);
    if (life.phase === 'ended') {
      resolveEnded();
      return;
    }
    const wake = wakeAt(life, timing);
    if (Number.isFinite(wake)) timer = setTimeout(handle, Math.max(0, wake - now()), { type: 'tick' }).unref();
  };

  const handle = (event: Event): void => {
    if (life.phase === 'ended') return;
    const { phase } = life;
    const wasOver = isOver(life);
    [life, action] = step(life, event, now(), timing);
    if (life.phase !== phase) log.debug({ phase: life.phase, plan }, 'the phase of the stream changed');
    settle();
    if (isOver(life) && !wasOver) onEnd();
  };

  settle();

  return {
    /** Records a client request, which keeps the session alive. */
    touch: (): void => handle({ type: 'asked' }),
    phase: (): Phase => life.phase,
    /** Of the source, without credentials and path. */
    source: source.display,
    publicUrl: source.publicUrl,
    /** `failing`: the source has failed, and is tried again. */
    state: (): 'starting' | 'live' | 'failing' => {
      if (life.phase === 'live') return 'live';
      return life.failures > 0 || life.phase === 'stalled' ? 'failing' : 'starting';
    },
    /** Why no media arrives, in a sentence without credentials; null: it does, or the reason is not known yet. */
    issue: (): string | null => failure && `The stream of ${source.display} ${failure}.`,
    /** Whether there is a manifest, and whether media is arriving. */
    status: (): { ready: boolean; live: boolean } => ({ ready: isReady(), live: life.phase === 'live' }),
    /** The media playlist; null while no fresh media is available. */
    manifest: (): string | null => (isReady() ? manifest(window) : null),
    /** A segment's bytes; undefined if it does not exist or was dropped. */
    segment: (name: string): Buffer | undefined => segmentNamed(window, name),
    /** The time since the last client request, in ms. */
    idle: (): number => now() - life.askedAt,
    /** Ends the stream; resolves when its ffmpeg has exited. */
    close: (): Promise<void> => {
      handle({ type: 'close' });
      return ended;
    },
  };
};
