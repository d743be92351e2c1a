/** Crashes: of this process, after which the supervisor restarts the app, and of the GPU process. */
import type { App } from 'electron';
import type { Logger } from 'pino';
import { gpuLost } from './recovery-policy.ts';
import { type Rendering, STEP_MS } from './rendering.ts';

interface CrashPorts {
  app: Pick<App, 'on' | 'disableHardwareAcceleration'>;
  log: Pick<Logger, 'warn' | 'error'>;
  rendering: Rendering;
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
