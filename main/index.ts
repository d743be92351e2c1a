/** Starts the kiosk: one app that hosts the service and shows its pages. */
import { totalmem } from 'node:os';
import { app, Menu, powerSaveBlocker, protocol, screen, session, utilityProcess } from 'electron';
import { EXIT_CONFIG, runningAt } from '../service/public.ts';
import { graphicsOf, handleCrashes, openRendering } from './crashes.ts';
import { createKiosk } from './kiosk.ts';
import { createFail, createRelaunch, endSecond, stopBeforeQuit } from './lifecycle.ts';
import { ownPartition, registerOwnPages, serveOwnPages } from './own-pages.ts';
import { findPaths } from './paths.ts';
import { systemPanels } from './power/panels.ts';
import { createKeepAwake } from './power/power.ts';
import { memoryByProcess, run } from './processes.ts';
import { createKioskProxy } from './proxy.ts';
import { createRunScript } from './scripts.ts';
import { createServiceHost } from './service-host.ts';
import { enabledFeatures, refusal, refusedSwitches } from './switches.ts';
import { readImage } from './system.ts';
import { showTextPage } from './text-page.ts';
import { createDisplayView } from './windows/display-view.ts';
import { titleOf } from './windows/displays.ts';
import { guardPages } from './windows/guard.ts';
import { showLabel } from './windows/label.ts';
import { maintenancePages } from './windows/maintenance-page.ts';
import { createPlacement } from './windows/placement.ts';

const paths = findPaths(app);
const { session: compositor } = paths;
const rendering = openRendering(paths.rendering, compositor?.renderer);
const host = createServiceHost(paths, {
  kiosk: () => ({
    ...kiosk.health(),
    rendering: rendering.how,
    ...readImage(paths),
    compositor: compositor === null ? null : { renderer: compositor.renderer, reason: compositor.fault },
  }),
  capture: (deviceId) => kiosk.capture(deviceId),
  operate: (order, box) => kiosk.operate(order, box),
  hotspot: () => kiosk.hotspot(),
  runScript: createRunScript(utilityProcess.fork),
  restart: () => relaunch('an operator restarted it from the console'),
});
const { log } = host;
const placement = createPlacement({ log, execute: run }, paths);
const relaunch = createRelaunch(
  { app, log, lendSecrets: host.lendSecrets, isStopping: () => kiosk.isStopping() },
  paths,
);

const kiosk = createKiosk(
  {
    app,
    host,
    relaunch,
    // Without windows the runtime has one display that nobody sees.
    displays: () => (process.argv.includes('--ozone-platform=headless') ? [] : screen.getAllDisplays()),
    primaryDisplayId: () => screen.getPrimaryDisplay().id,
    placeWindows: (displays) =>
      placement.arrange(displays.map((display) => ({ title: titleOf(display), bounds: display.bounds }))),
    openView: (display, handlers) => createDisplayView(display, handlers, { preload: paths.preload.player }),
    graphics: () => graphicsOf(app.getGPUFeatureStatus(), rendering.how),
    showLabel,
    execute: run,
    ...maintenancePages({ preload: paths.preload.maintenance }),
    memoryByProcess: memoryByProcess(app),
    panels: systemPanels(process.platform),
    keepAwake: createKeepAwake(powerSaveBlocker),
    proxy: createKioskProxy(app),
  },
  { paths, memory: totalmem() },
);

const fail = createFail({ app, log, relaunch }, paths);

/** Allows a single instance, without remote debugging. */
const mayStart = (): boolean => {
  const refused = app.isPackaged ? refusedSwitches(process.argv.slice(1)) : [];
  if (refused.length > 0) {
    console.error(refusal(refused, paths.appImage));
    app.exit(EXIT_CONFIG);
    return false;
  }
  if (app.requestSingleInstanceLock()) return true;
  const url = runningAt(host.dataDir);
  if (url === null) console.log(`The kiosk starts already, or ${app.getPath('temp')} takes no file.`);
  else
    console.log(`The kiosk runs already at ${url}, with the data folder ${host.dataDir}; its window is in front now.`);
  endSecond(app, paths);
  return false;
};

const boot = async (): Promise<void> => {
  await app.whenReady();
  showTextPage({ log, state: kiosk.network }, compositor);
  serveOwnPages(session.fromPartition(ownPartition), paths.pagesDir);
  await kiosk.prepare();
  Menu.setApplicationMenu(null);
  // `npm start` falls back to the headless service if Electron ends before this message.
  if (kiosk.openWindows() > 0) process.send?.('window-opened');
  for (const change of ['display-added', 'display-removed', 'display-metrics-changed'] as const) {
    screen.on(change as 'display-added', kiosk.displaysChanged);
  }
  app.on('second-instance', kiosk.focus);
  await kiosk.startService();
};

app.enableSandbox();
// A locked keyring would show a password dialog over the page.
app.commandLine.appendSwitch('password-store', 'basic');
if (process.platform === 'linux') app.commandLine.appendSwitch('enable-features', enabledFeatures(process.argv));
registerOwnPages(protocol);
handleCrashes({ app, log, rendering, relaunch, fail });
if (mayStart()) {
  guardPages({ serviceOrigin: kiosk.serviceOrigin });
  stopBeforeQuit({ app, kiosk, placement, log });
  boot().catch(fail);
}
