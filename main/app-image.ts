/** Whether the app runs from an AppImage: its runtime says so in the environment, which whatever it starts inherits. */
import { realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';

/** `APPIMAGE` and `APPDIR`, as the runtime sets them. */
interface Told {
  image: string | undefined;
  mount: string | undefined;
}

/**
 * @param program the path of the program that runs
 * @returns the AppImage that the program is in; null: in none, though a terminal that it was started from may be in one
 */
export const ownAppImage = ({ image, mount }: Told, program: string): string | null => {
  if (!image || !mount) return null;
  try {
    const inside = relative(realpathSync(mount), realpathSync(program));
    return inside.startsWith('..') || isAbsolute(inside) ? null : image;
  } catch {
    // A mount that is gone is another's: this program runs.
    return null;
  }
};
