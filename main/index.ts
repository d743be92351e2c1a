/** The kiosk: one app that hosts the service and shows its page. */
import { app, Menu, powerSaveBlocker } from 'electron';
import { guardEverything } from './guard.ts';
import { findPaths } from './paths.ts';
import { exitCodeOf, hostService } from './service-host.ts';
import { openKioskWindow } from './window.ts';

const fail = (error: unknown): void => {
  console.error(error instanceof Error ? error.message : error);
  app.exit(exitCodeOf(error));
};

const run = async (): Promise<void> => {
  await app.whenReady();
  const service = await hostService(findPaths());
  guardEverything(service.url);
  Menu.setApplicationMenu(null);
  powerSaveBlocker.start('prevent-display-sleep');
  const window = openKioskWindow(service.url);
  console.log(`Signage player listening on ${service.url}`);

  app.on('second-instance', () => window.focus());
  let stopped = false;
  app.on('before-quit', (event) => {
    if (stopped) return;
    event.preventDefault();
    stopped = true;
    void service.close().finally(() => app.quit());
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => app.quit());
};

app.enableSandbox();
process.on('uncaughtException', fail);
if (app.requestSingleInstanceLock()) run().catch(fail);
else app.quit();
