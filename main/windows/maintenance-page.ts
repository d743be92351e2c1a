/** The view of the maintenance page: above all other views in the window of a display. */

import { WebContentsView } from 'electron';
import { maintenanceCall } from '../../service/public.ts';
import { maintenanceChannel } from '../channels.ts';
import type { MaintenancePage, MaintenancePageHandlers } from '../maintenance.ts';
import { ownPage, ownPartition } from '../own-pages.ts';
import { type LayeredWindow, OWN_BACKGROUND } from './layers.ts';
import { lockedPreferences, rotateContents, watchChord } from './web-pages.ts';

/** @param preload the path of the preload script */
export const openMaintenancePage = (
  window: LayeredWindow,
  { rotation, answer, onClose }: MaintenancePageHandlers,
  { preload }: { preload: string },
): MaintenancePage => {
  const view = new WebContentsView({ webPreferences: { ...lockedPreferences, partition: ownPartition, preload } });
  view.setBackgroundColor(OWN_BACKGROUND);
  const { webContents } = view;
  let isClosed = false;
  webContents.ipc.handle(maintenanceChannel, (event, call: unknown) =>
    event.senderFrame === webContents.mainFrame ? answer(maintenanceCall.parse(call)) : null,
  );
  webContents.on('render-process-gone', onClose);
  webContents.on('unresponsive', onClose);
  webContents.on('destroyed', onClose);
  watchChord(webContents, onClose);
  webContents.once('did-finish-load', () => {
    if (!isClosed) window.put(view, 'maintenance');
  });
  window.put(view, 'hidden');
  webContents.loadURL(ownPage('maintenance.html')).catch(onClose);
  return {
    rotate: rotateContents(webContents, rotation),
    close: () => {
      isClosed = true;
      window.remove(view);
      if (!webContents.isDestroyed()) webContents.close();
    },
  };
};
