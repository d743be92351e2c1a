import type { App } from 'electron';
import type { Logger } from 'pino';
import type { Kiosk } from './kiosk.ts';
import type { Placement } from './placement.ts';

interface Ports {
  app: App;
  kiosk: Pick<Kiosk, 'isStopping' | 'stop'>;
  placement: Pick<Placement, 'close'>;
  log: Logger;
}

/** The deadline for closing everything on quit, in ms. */
const STOP_MS = 5_000;

/** Stops the kiosk in order before the app ends, also if the system asks it to end. */
export const stopBeforeQuit = ({ app, kiosk, placement, log }: Ports): void => {
  let isStopped = false;
  app.on('before-quit', (event) => {
    if (isStopped) return;
    event.preventDefault();
    if (kiosk.isStopping()) return;
    setTimeout(() => app.exit(1), STOP_MS).unref();
    placement.close();
    kiosk
      .stop()
      .catch((error: unknown) => log.error({ err: error }, 'the service did not stop cleanly'))
      .finally(() => {
        isStopped = true;
        app.quit();
      });
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => app.quit());
};
