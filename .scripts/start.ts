/** `npm start`: the kiosk where Electron and a display can be had, the same service without a window elsewhere. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { electronPath } from './electron-path.ts';

const root = join(import.meta.dirname, '..');

const hasDisplay = (): boolean =>
  process.platform !== 'linux' || Boolean(process.env.DISPLAY) || Boolean(process.env.WAYLAND_DISPLAY);

const startHeadless = async (reason: string): Promise<void> => {
  console.log(`${reason}, so the player runs without a window: open the address below in any browser.`);
  await import(pathToFileURL(join(root, 'dist', 'service', 'headless.js')).href);
};

const startKiosk = (electron: string): void => {
  console.log('Starting the kiosk.');
  let hasWindow = false;
  let isStopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    isStopping = true;
    // Ctrl+C in a terminal reaches Electron by itself, and a second signal would kill it.
    if (signal === 'SIGTERM' || !process.stdin.isTTY) kiosk.kill('SIGTERM');
  };
  const fallBack = (reason: string): void => {
    // The service has handlers of its own.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, stop);
    void startHeadless(reason);
  };
  // Before the kiosk, which would outlive a signal that comes between.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  const kiosk = spawn(electron, [root], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  kiosk.on('message', (message) => {
    if (message === 'window-opened') hasWindow = true;
  });
  kiosk.on('error', () => fallBack('Electron could not be started'));
  kiosk.on('exit', (code, signal) => {
    // Code 0: another kiosk runs already and was brought to the front.
    if (hasWindow || isStopping || code === 0) process.exit(code ?? 1);
    fallBack(`Electron ended (${signal ?? `exit code ${code}`}) before it opened a window`);
  });
};

if (!hasDisplay()) await startHeadless('There is no display');
else {
  const electron = electronPath();
  if (electron === null) await startHeadless('Electron is not installed and could not be downloaded');
  else startKiosk(electron);
}
