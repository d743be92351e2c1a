import type { WebPreferences } from 'electron';

/** The web preferences of all pages: everything that a page need not do is disabled. */
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
  // Pages play while they are covered, and without a user gesture.
  backgroundThrottling: false,
  autoplayPolicy: 'no-user-gesture-required',
} as const satisfies WebPreferences;
