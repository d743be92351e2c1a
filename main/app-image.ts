/** Detects an AppImage by the environment variables of its runtime, which its child processes inherit. */
import { realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';

interface AppImageEnvironment {
  /** `APPIMAGE`: the path of the AppImage. */
  image: string | undefined;
  /** `APPDIR`: where it is mounted. */
  mount: string | undefined;
}

/**
 * @param program the path of the running program
 * @returns the path of the AppImage that contains the program; null: none does, though its parent process may run from one
 */
export const ownAppImage = ({ image, mount }: AppImageEnvironment, program: string): string | null => {
  if (!image || !mount) return null;
  try {
    const inside = relative(realpathSync(mount), realpathSync(program));
    return inside.startsWith('..') || isAbsolute(inside) ? null : image;
  } catch {
    // The mount is gone, so the running program is not in it.
    return null;
  }
};
