/** The other end of what the double answers: a function, called in the app's own process with its electron module. */
import type { ChildProcess } from 'node:child_process';

// Untyped: the real module and its double meet here.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Electron = any;

export type Ask = <Result>(
  ask: (electron: Electron, argument: Electron) => Result,
  argument?: unknown,
) => Promise<Awaited<Result>>;

interface Answer {
  id?: number;
  result: never;
  error?: string;
}

let lastId = 0;

/** @param app started with an IPC channel */
export const askOf =
  (app: ChildProcess): Ask =>
  async (ask, argument) => {
    lastId += 1;
    const id = lastId;
    const answered = new Promise<Answer>((resolve) => {
      const hear = (message: Answer): void => {
        if (message.id !== id) return;
        app.off('message', hear);
        resolve(message);
      };
      app.on('message', hear);
    });
    app.send({ id, source: String(ask), argument });
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(error);
    return result;
  };

/** Kills the page's process; resolves when another window is in front, to how long that took, ms. */
export const killPage = (ask: Ask): Promise<number> =>
  ask(
    ({ app, BrowserWindow }) =>
      new Promise<number>((resolve) => {
        const killedAt = Date.now();
        const [window] = BrowserWindow.getAllWindows();
        app.once('browser-window-created', (_event: Electron, next: Electron) => {
          next.once('show', () => resolve(Date.now() - killedAt));
        });
        window.webContents.forcefullyCrashRenderer();
      }),
  );

/** Lets the app's steady clock jump ahead, as one that a machine wakes up with does. */
export const passTime = (ask: Ask, seconds: number): Promise<void> =>
  ask((_electron, ms) => {
    const read = performance.now.bind(performance);
    performance.now = () => read() + ms;
  }, seconds * 1000);
