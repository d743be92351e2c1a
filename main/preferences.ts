import type { WebPreferences } from 'electron';

/** What every page of the kiosk may do in its window: as little as a page can. */
export const lockedPreferences = {
  contextIsolation: true,
  sandbox: true,
  nodeIntegration: false,
  nodeIntegrationInSubFrames: false,
  nodeIntegrationInWorker: false,
  webSecurity: true,
  allowRunningInsecureContent: false,
  experimentalFeatures: false,
  webviewTag: false,
  devTools: false,
  disableDialogs: true,
  safeDialogs: true,
  navigateOnDragDrop: false,
  spellcheck: false,
  enableWebSQL: false,
  // A screen plays on under whatever is above it, and nobody is there to click.
  backgroundThrottling: false,
  autoplayPolicy: 'no-user-gesture-required',
} as const satisfies WebPreferences;
