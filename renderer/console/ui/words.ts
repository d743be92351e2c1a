/** The state of a display in words. */

import type { Display } from '../model/displays.ts';
import { useConsole } from './context.tsx';

export const useWords = () => {
  const { texts, format, clock, hours } = useConsole();
  return ({ state, device, connection }: Pick<Display, 'state' | 'device' | 'connection'>, slug: string): string =>
    texts.state(state, {
      since: device?.lastSeenAt == null ? null : format.when(device.lastSeenAt, clock.now()),
      until: state === 'closed' ? hours.opensAt(slug) : null,
      page: connection?.page.replace(/^https?:\/\//, '') ?? null,
    });
};
