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

/** Crashes the process of the first window's page; resolves when another page is on, to how long that took, ms. */
export const crashPage = (ask: Ask): Promise<number> =>
  ask(
    ({ BaseWindow }) =>
      new Promise<number>((resolve) => {
        const crashedAt = Date.now();
        const [window] = BaseWindow.getAllWindows();
        /** The one on top; one that is being loaded lies below it. */
        const shown = () =>
          window.contentView.children
            .map(({ webContents }: Electron) => webContents)
            .findLast(
              (contents: Electron) =>
                /^(http|kiosk:..pages.trouble)/.test(contents?.getURL()) && contents.getOSProcessId() !== 0,
            );
        const crashed = shown();
        const timer = setInterval(() => {
          const page = shown();
          if (page === undefined || page === crashed) return;
          clearInterval(timer);
          resolve(Date.now() - crashedAt);
        }, 2);
        crashed.forcefullyCrashRenderer();
      }),
  );

/** Lets a page hang, by its process, which costs nothing. @param part of its address */
export const hangPage = (ask: Ask, part: string): Promise<void> =>
  ask(async ({ webContents }, wanted) => {
    const page = webContents.getAllWebContents().find((each: Electron) => each.getURL().includes(wanted));
    while (page.getOSProcessId() === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(page.getOSProcessId(), 'SIGSTOP');
  }, part);

/** Sends keys and clicks to a page as the people in front of it do: the app gets them first. @param part of its address */
export const sendInput = (ask: Ask, part: string, ...events: object[]): Promise<void> =>
  ask(
    ({ webContents }, [wanted, given]) => {
      const page = webContents.getAllWebContents().find((each: Electron) => each.getURL().includes(wanted));
      for (const event of given) page.sendInputEvent(event);
    },
    [part, events],
  );

/** For {@link sendInput}. */
export const clickAt = (x: number, y: number): object[] =>
  ['mouseMove', 'mouseDown', 'mouseUp'].map((type) => ({ type, x, y, button: 'left', clickCount: 1 }));
export const keyPresses = (...keys: string[]): object[] =>
  keys.flatMap((keyCode) => ['keyDown', 'keyUp'].map((type) => ({ type, keyCode })));

/** Lets the app's steady clock jump ahead, as one that a machine wakes up with does. */
export const passTime = (ask: Ask, seconds: number): Promise<void> =>
  ask((_electron, ms) => {
    const read = performance.now.bind(performance);
    performance.now = () => read() + ms;
  }, seconds * 1000);

/** What each window shows, from the bottom to the top: the path of a page, `black` for the cover. */
export const layersOf = (ask: Ask): Promise<string[][]> =>
  ask(({ BaseWindow }) =>
    BaseWindow.getAllWindows().map((window: Electron) =>
      window.contentView.children.map(({ webContents }: Electron) =>
        webContents === undefined
          ? 'plain'
          : (/^[^?#]*?(?=[?#]|$)/
              .exec(webContents.getURL())?.[0]
              .replace(/^http:..[^/]*/, '')
              .replace('kiosk://pages/black.html', 'black') ?? ''),
      ),
    ),
  );
