/** When this program was built: a clock that shows an earlier time is wrong. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @returns ms since the epoch, from the built pages; 0 if they do not say */
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
