import { ownPage } from './own-pages.ts';
import type { Fault } from './service-host.ts';

/**
 * The address of the kiosk's own page that says what is wrong, in words for the person in front of the display.
 * @param fault why there is no service; null: there is one, but its page failed too often
 * @param retryMs until it is tried again
 */
export const troublePage = (fault: Fault | null, retryMs: number): string =>
  ownPage('trouble.html', {
    kind: fault?.kind ?? 'screen',
    message: fault?.message ?? '',
    seconds: String(Math.round(retryMs / 1000)),
  });
