/**
 * Crashes: of this process, after which the app is started again, and of the GPU process. After too many of those the
 * box renders in software for a day, across restarts. Stored in a file, because it must be known before Electron is ready
 * and a supervisor passes no arguments on.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { App } from 'electron';
import type { Logger } from 'pino';
import type { KioskHealth } from '../service/public.ts';
import type { Session } from './paths.ts';
import { gpuLost } from './windows/recovery-policy.ts';

/** How often the rest of the day is saved, in ms. */
export const STEP_MS = 10 * 60_000;
const DAY_STEPS = 144;

/**
 * @param path the file that holds the number of remaining steps
 * @param renderer how the compositor draws
 */
export const openRendering = (path: string, renderer: Session['renderer'] = 'gpu') => {
  const read = (): number => {
    try {
      return Math.min(DAY_STEPS, Math.floor(Number(readFileSync(path, 'utf8')))) || 0;
    } catch {
      return 0;
    }
  };
  const write = (steps: number): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, String(steps));
  };
  let remaining = read();
  return {
    isSoftware: remaining > 0,
    how: remaining > 0 || renderer !== 'gpu' ? ('software' as const) : ('hardware' as const),
    /** Renders in software for a day, from the next start. @throws the system's error */
    disableGpu: () => write(DAY_STEPS),
    /**
     * Counts down by a step that the box ran; a clock may be years wrong until it is set.
     * @returns whether the day is over, so that the next start uses the GPU
     * @throws the system's error
     */
    step: () => {
      remaining -= 1;
      if (remaining > 0) write(remaining);
      else rmSync(path, { force: true });
      return remaining <= 0;
    },
  };
};

interface CrashPorts {
  app: Pick<App, 'on' | 'disableHardwareAcceleration'>;
  log: Pick<Logger, 'warn' | 'error'>;
  rendering: ReturnType<typeof openRendering>;
  /** Restarts the app. */
  relaunch(reason: string): void;
  /** Ends the app. */
  fail(error: unknown): void;
}

/** Must be called before the app is ready. */
export const handleCrashes = ({ app, log, rendering, relaunch, fail }: CrashPorts): void => {
  /** A failed write must not end playback: after a restart the disk would still be full. */
  const keepPlaying = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      log.error({ err: error }, 'the rendering mode could not be saved for the next start');
    }
  };

  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  let losses: readonly number[] = [];
  app.on('child-process-gone', (_event, { type, reason }) => {
    log.warn({ type, reason }, 'a process of the kiosk ended');
    if (type !== 'GPU' || rendering.isSoftware) return;
    const judged = gpuLost(losses, performance.now());
    losses = judged.losses;
    if (!judged.isUnfit) return;
    keepPlaying(() => {
      rendering.disableGpu();
      relaunch('the GPU process crashed too often');
    });
  });
  if (!rendering.isSoftware) return;
  app.disableHardwareAcceleration();
  const step = (): void => {
    if (rendering.step()) relaunch('the GPU is tried again');
  };
  setInterval(() => keepPlaying(step), STEP_MS).unref();
};

/**
 * What `app.getGPUFeatureStatus()` says, in our words. Pure.
 * @param rendering how pages are painted: a compositor without a GPU copies what the runtime painted with one
 */
export const graphicsOf = (
  status: object,
  rendering: KioskHealth['rendering'],
): Pick<KioskHealth['screens'][number], 'gpu' | 'gpu_features' | 'video_decode'> => {
  const features = Object.fromEntries(Object.entries(status).map(([name, state]) => [name, String(state)]));
  const isOn = (name: string): boolean => features[name]?.startsWith('enabled') ?? false;
  // The runtime tells whether a decoder may be used, not whether it can decode the film that plays.
  const gpu = rendering === 'hardware' && isOn('gpu_compositing') ? 'hardware' : 'software';
  const decodes = gpu === 'hardware' && isOn('video_decode');
  return {
    gpu,
    gpu_features: features,
    video_decode: decodes ? 'unknown' : 'software',
  };
};
