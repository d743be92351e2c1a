/** Windows: the kiosk starts with the login of its account. On Linux a systemd unit does that. */
interface App {
  isPackaged: boolean;
  getLoginItemSettings(): { openAtLogin: boolean };
  setLoginItemSettings(settings: { openAtLogin: boolean }): void;
}

export const startWithLogin = (app: App, platform: NodeJS.Platform): void => {
  if (platform !== 'win32' || !app.isPackaged || app.getLoginItemSettings().openAtLogin) return;
  app.setLoginItemSettings({ openAtLogin: true });
};
