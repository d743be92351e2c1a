/** The view of the maintenance page: above all other views in the window of a display. */
import { maintenanceCall } from '../../service/public.ts';
import { maintenanceChannel } from '../channels.ts';
import type { MaintenancePage, MaintenancePageHandlers } from '../maintenance.ts';
import { ownPage, ownPartition } from '../own-pages.ts';
import { openExternalPartition } from './external-page.ts';
import { type LayeredWindow, OWN_BACKGROUND, openView, WHOLE } from './layers.ts';
import { barArea, openSignInPage } from './sign-in-page.ts';
import { rotateContents, watchChord } from './web-pages.ts';

/** @param preload the path of the preload script */
const openMaintenancePage = (
  window: LayeredWindow,
  { rotation, answer, onClose }: MaintenancePageHandlers,
  { preload }: { preload: string },
): MaintenancePage => {
  const view = openView({ partition: ownPartition, preload }, OWN_BACKGROUND);
  const { webContents } = view;
  let isClosed = false;
  let isLoaded = false;
  let isBar = false;
  let placed = rotation;
  const rotate = rotateContents(webContents, rotation);
  const place = (): void => {
    if (isLoaded && !isClosed) window.put(view, 'maintenance', isBar ? barArea(placed) : WHOLE);
  };
  webContents.ipc.handle(maintenanceChannel, (event, call: unknown) =>
    event.senderFrame === webContents.mainFrame ? answer(maintenanceCall.parse(call)) : null,
  );
  webContents.on('render-process-gone', onClose);
  webContents.on('unresponsive', onClose);
  webContents.on('destroyed', onClose);
  watchChord(webContents, onClose);
  webContents.once('did-finish-load', () => {
    isLoaded = true;
    place();
  });
  window.put(view, 'hidden');
  webContents.loadURL(ownPage('maintenance.html')).catch(onClose);
  return {
    rotate: (next) => {
      placed = next;
      rotate(next);
      place();
    },
    makeRoom: (on) => {
      isBar = on;
      place();
    },
    close: () => {
      isClosed = true;
      window.close(view);
    },
  };
};

/** How the kiosk opens the page, and those in which somebody signs in. */
export const maintenancePages = (options: { preload: string }) => ({
  openPage: (window: LayeredWindow, handlers: MaintenancePageHandlers) =>
    openMaintenancePage(window, handlers, options),
  openPartition: openExternalPartition,
  openSignInPage,
});
