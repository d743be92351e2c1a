/** When this program was built: it is later than that, so a clock that reads less has not been set. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @returns ms since the epoch, as the built pages have it; of pages without it, so early that every clock is later */
export const readBuiltAt = (rendererDir: string): number => {
  try {
    const [, written] =
      /<meta name="built" content="([^"]+)"/.exec(readFileSync(join(rendererDir, 'player', 'index.html'), 'utf8')) ??
      [];
    return Date.parse(written ?? '') || 0;
  } catch {
    return 0;
  }
};
