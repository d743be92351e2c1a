/**
 * A mock of the `electron` module, for machines without Electron's runtime: an app of plain Node whose views are pages of
 * a real Chromium. It has what the kiosk uses, no more, and refuses what Electron refuses, with its errors. A test that
 * started the process may send `{ id, source, argument }`, and gets what the function answers that the source is, called
 * with this module.
 */
import http from 'node:http';
import https from 'node:https';
import { app, chromium, done } from './app.ts';
import { WebContents } from './contents.ts';
import { Ipc } from './emitter.ts';
import { screen } from './screen.ts';
import { privileges, type Session, sessionOf } from './session.ts';
import { utilityProcess } from './utility.ts';
import { BaseWindow, View, WebContentsView } from './view.ts';
import { setWorld } from './world.ts';

export const ipcMain = new Ipc();
setWorld({
  chromium,
  app,
  ipcMain,
  displays: () => screen.getAllDisplays(),
  onAllWindowsClosed: () => app.onAllWindowsClosed(),
  onCloseCancelled: () => app.onCloseCancelled(),
});

export const session = {
  fromPartition: (partition: string): Session => sessionOf(partition),
  get defaultSession(): Session {
    return sessionOf('');
  },
};
export const protocol = {
  registerSchemesAsPrivileged: (schemes: { scheme: string; privileges?: object }[]): void => {
    if (app.isReady()) throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
    for (const each of schemes) privileges.set(each.scheme, each.privileges ?? {});
  },
};
/** Node's own requests; the events that electron-updater waits for have the same names. */
export const net = {
  request: ({ session: _, redirect: __, ...options }: http.RequestOptions & { session?: Session; redirect?: string }) =>
    (options.protocol === 'https:' ? https : http).request(options),
};
let lastBlocker = 0;
export const Menu = { setApplicationMenu: (): void => {} };
export const powerSaveBlocker = {
  start: (type: string): number => {
    if (!['prevent-app-suspension', 'prevent-display-sleep'].includes(type)) throw new TypeError('Invalid type');
    // From 0, which is an ID like any other.
    const id = lastBlocker++;
    done.blockers.add(id);
    return id;
  },
  stop: (id: number): boolean => done.blockers.delete(id),
};
export { nativeImage } from './image.ts';
export const webContents = {
  getAllWebContents: WebContents.getAllWebContents,
  getFocusedWebContents: WebContents.getFocusedWebContents,
  fromId: WebContents.fromId,
};
export { app, BaseWindow, screen, utilityProcess, View, WebContentsView };

process.on('message', async ({ id, source, argument }: { id: number; source: string; argument: unknown }) => {
  const electron = {
    ...{
      app,
      BaseWindow,
      View,
      WebContentsView,
      webContents,
      ipcMain,
      screen,
      session,
      protocol,
      powerSaveBlocker,
      utilityProcess,
    },
    done,
  };
  try {
    const ask = new Function(`return (${source})`)() as (electron: object, argument: unknown) => unknown;
    process.send?.({ id, result: await ask(electron, argument) });
  } catch (error) {
    process.send?.({ id, error: String(error) });
  }
});
