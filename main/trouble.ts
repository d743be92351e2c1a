import { join } from 'node:path';
import type { Fault } from './service-host.ts';

/**
 * The page of the kiosk's own that says what is the matter, in words for whoever stands before it.
 * @param fault why there is no service; null: there is one, but its page failed too often
 * @param retryMs until it is tried again
 */
export const troublePage = (
  pagesDir: string,
  fault: Fault | null,
  retryMs: number,
): { file: string; query: Record<string, string> } => ({
  file: join(pagesDir, 'trouble.html'),
  query: {
    kind: fault?.kind ?? 'screen',
    message: fault?.message ?? '',
    seconds: String(Math.round(retryMs / 1000)),
  },
});
