/**
 * Which displays are switched off, and how, kept over restarts: a television that has dropped its connection is no display
 * of the next start, which alone can switch it on.
 */
import type { Logger } from 'pino';
import type { Durable } from '../../service/public.ts';
import type { KioskState } from '../service-host.ts';
import type { DisplayIdentity } from '../windows/displays.ts';
import type { Dark } from './power.ts';

interface DarkPorts {
  log: Pick<Logger, 'error'>;
  /** The kiosk's own state; undefined: there is none. */
  state: Durable<Pick<KioskState, 'dark'>> | undefined;
  /** What a display is, by its ID. */
  assignmentOf(id: number): DisplayIdentity | undefined;
}

export const openDark = ({
  log,
  state,
  assignmentOf,
}: DarkPorts): Dark & { displays(): readonly DisplayIdentity[] } => {
  const read = () => state?.read().dark ?? { by: [], displays: [] };
  return {
    by: () => read().by,
    /** The displays that were off. */
    displays: () => read().displays,
    write: (by, ids) => {
      const off = by.length === 0 ? [] : ids.flatMap((id) => assignmentOf(id) ?? []);
      const dark = { by: [...by], displays: off.map(({ deviceId, screen }) => ({ deviceId, screen })) };
      if (JSON.stringify(dark) === JSON.stringify(read())) return;
      state
        ?.update((before) => ({ ...before, dark }))
        .catch((error: unknown) => log.error({ err: error }, 'it could not be saved which displays are off'));
    },
  };
};
