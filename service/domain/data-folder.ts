/** The platform's folder for application data. */
import { isAbsolute, join } from 'node:path';

/** @param home the home directory of the user */
export const platformDataDir = (
  env: Readonly<Record<string, string | undefined>>,
  home: string,
  platform: NodeJS.Platform,
): string => {
  // An empty or relative path is to be ignored (XDG Base Directory Specification).
  const folder = (given = '', ...usual: string[]): string =>
    join(isAbsolute(given) ? given : join(home, ...usual), 'signage-player');
  if (platform === 'win32') return folder(env['LOCALAPPDATA'], 'AppData', 'Local');
  if (platform === 'darwin') return folder(undefined, 'Library', 'Application Support');
  return folder(env['XDG_DATA_HOME'], '.local', 'share');
};
