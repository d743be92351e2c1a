/** Starts the kiosk with the login of its account on Windows. On Linux a systemd unit does that. */
export interface AutostartApp {
  isPackaged: boolean;
  getLoginItemSettings(): { openAtLogin: boolean };
  setLoginItemSettings(settings: { openAtLogin: boolean }): void;
}

export const startWithLogin = (app: AutostartApp, platform: NodeJS.Platform): void => {
  if (platform !== 'win32' || !app.isPackaged || app.getLoginItemSettings().openAtLogin) return;
  app.setLoginItemSettings({ openAtLogin: true });
};
