/** When the promise of `loadURL` is settled, and how: Electron's own function (lib/browser/api/web-contents.ts). */
import type { EventEmitter } from 'node:events';

interface LoadError {
  errorCode: number;
  errorDescription: string;
  url: string;
}

export const awaitLoad = (contents: EventEmitter, navigationUrl: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let error: LoadError | undefined;
    let hasStarted = false;
    let isOwnInPage = false;

    const settle = (): void => {
      for (const [name, listener] of Object.entries(listeners)) contents.off(name, listener);
      if (error === undefined) return resolve();
      const { errorCode: errno, errorDescription: code, url } = error;
      reject(Object.assign(new Error(`${code} (${errno}) loading '${url}'`), { errno, code, url }));
    };
    const stop = (): void => {
      error ??= { errorCode: -2, errorDescription: 'ERR_FAILED', url: navigationUrl };
      settle();
    };
    // biome-ignore lint/suspicious/noExplicitAny: the arguments of events
    const listeners: Record<string, (...args: any[]) => void> = {
      'did-finish-load': settle,
      'did-fail-load': (
        _event: unknown,
        errorCode: number,
        errorDescription: string,
        url: string,
        isMainFrame: boolean,
      ) => {
        if (error === undefined && isMainFrame) error = { errorCode, errorDescription, url };
        if (!hasStarted && isMainFrame) settle();
      },
      'did-navigate-in-page': () => {
        if (!isOwnInPage) settle();
      },
      'did-start-navigation': (_event: unknown, url: string, isSameDocument: boolean, isMainFrame: boolean) => {
        if (!isMainFrame) return;
        // Another navigation has begun.
        if (hasStarted && !isSameDocument) {
          error = { errorCode: -3, errorDescription: 'ERR_ABORTED', url };
          settle();
        }
        isOwnInPage = hasStarted && isSameDocument;
        hasStarted = true;
      },
      // That of the load before may come late.
      'did-stop-loading': () => hasStarted && stop(),
      destroyed: stop,
    };
    for (const [name, listener] of Object.entries(listeners)) contents.on(name, listener);
  });
