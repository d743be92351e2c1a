/** What of the displays is kept over restarts: manual overrides, and which are switched off. */
import type { Logger } from 'pino';
import type { Durable } from '../../service/public.ts';
import type { KioskState } from '../service-host.ts';
import type { DisplayIdentity } from '../windows/displays.ts';
import type { Dark, Override, Overrides } from './power.ts';

/** Displays that are gone count, too; the oldest orders are forgotten. */
const MAX_OVERRIDES = 32;

type Kept = Pick<KioskState, 'byHand' | 'dark'>;

interface KeptPorts {
  log: Pick<Logger, 'error'>;
  /** The kiosk's own state; undefined: there is none, so that orders last until the next start. */
  state: Durable<Kept> | undefined;
}

/** A full disk must not keep a display from being switched. */
const save = ({ log, state }: KeptPorts, change: Partial<Kept>, failure: string): void =>
  void state
    ?.update((before) => ({ ...before, ...change }))
    .catch((error: unknown) => log.error({ err: error }, failure));

/** By device: the IDs of displays may change with a start. @param deviceOf the device of a display, by its ID */
export const openOverrides = (ports: KeptPorts, deviceOf: (id: number) => string | undefined): Overrides => {
  const byDevice = new Map<string, Override>();
  for (const { device, ...override } of ports.state?.read().byHand ?? []) byDevice.set(device, override);

  const keep = (): void => {
    const byHand = [...byDevice].map(([device, override]) => ({ device, ...override }));
    save(ports, { byHand }, 'the order for a display could not be saved');
  };

  return {
    get: (id) => byDevice.get(deviceOf(id) ?? ''),
    set: (id, override) => {
      const device = deviceOf(id);
      if (device === undefined) return;
      byDevice.delete(device);
      byDevice.set(device, override);
      for (const oldest of [...byDevice.keys()].slice(0, -MAX_OVERRIDES)) byDevice.delete(oldest);
      keep();
    },
    delete: (id) => {
      if (byDevice.delete(deviceOf(id) ?? '')) keep();
    },
  };
};

/**
 * A television that has dropped its connection is no display of the next start, which alone can switch it on.
 * @param assignmentOf what a display is, by its ID
 */
export const openDark = (
  ports: KeptPorts,
  assignmentOf: (id: number) => DisplayIdentity | undefined,
): Dark & { displays(): readonly DisplayIdentity[] } => {
  const read = () => ports.state?.read().dark ?? { by: [], displays: [] };
  return {
    by: () => read().by,
    /** The displays that were off. */
    displays: () => read().displays,
    write: (by, ids) => {
      const off = by.length === 0 ? [] : ids.flatMap((id) => assignmentOf(id) ?? []);
      const dark = { by: [...by], displays: off.map(({ deviceId, screen }) => ({ deviceId, screen })) };
      if (JSON.stringify(dark) === JSON.stringify(read())) return;
      save(ports, { dark }, 'it could not be saved which displays are off');
    },
  };
};
