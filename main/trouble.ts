import { ownPage } from './own-urls.ts';
import type { StartError } from './start-error.ts';

/**
 * The URL of the kiosk's own page that names the problem to the person in front of the display.
 * @param error why there is no service; null: there is one, but its page failed too often
 * @param retryMs until the next attempt
 */
export const troubleUrl = (error: StartError | null, retryMs: number): string =>
  ownPage('trouble.html', {
    kind: error?.kind ?? 'screen',
    message: error?.message ?? '',
    seconds: String(Math.round(retryMs / 1000)),
  });
