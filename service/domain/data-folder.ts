/** The platform's folder for application data. */
import { isAbsolute, join } from 'node:path';

/** @param home the home directory of the user */
type DataDir = (env: Readonly<Record<string, string | undefined>>, home: string, platform: NodeJS.Platform) => string;

// An empty or relative path is to be ignored (XDG Base Directory Specification).
const folderIn = (home: string, given = '', ...usual: string[]): string =>
  join(isAbsolute(given) ? given : join(home, ...usual), 'signage-player');

export const platformDataDir: DataDir = (env, home, platform) => {
  if (platform === 'win32') return folderIn(home, env['LOCALAPPDATA'], 'AppData', 'Local');
  if (platform === 'darwin') return folderIn(home, undefined, 'Library', 'Application Support');
  return folderIn(home, env['XDG_DATA_HOME'], '.local', 'share');
};

/** Electron's `userData`, where a kiosk keeps its data that no package has started. */
export const kioskDataDir: DataDir = (env, home, platform) => {
  if (platform === 'win32') return folderIn(home, env['APPDATA'], 'AppData', 'Roaming');
  if (platform === 'darwin') return platformDataDir(env, home, platform);
  return folderIn(home, env['XDG_CONFIG_HOME'], '.config');
};
