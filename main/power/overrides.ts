/** The manual overrides of displays, kept over restarts, by device: the IDs of displays may change with a start. */
import type { Logger } from 'pino';
import type { Durable } from '../../service/public.ts';
import type { KioskState } from '../service-host.ts';
import type { Override, Overrides } from './power.ts';

/** Displays that are gone count, too; the oldest orders are forgotten. */
const MAX_OVERRIDES = 32;

interface OverridesPorts {
  log: Pick<Logger, 'error'>;
  /** The kiosk's own state; undefined: there is none, so that orders last until the next start. */
  state: Durable<Pick<KioskState, 'byHand'>> | undefined;
  /** The device of a display, by its ID. */
  deviceOf(id: number): string | undefined;
}

export const openOverrides = ({ log, state, deviceOf }: OverridesPorts): Overrides => {
  const byDevice = new Map<string, Override>();
  for (const { device, ...override } of state?.read().byHand ?? []) byDevice.set(device, override);

  const save = (): void => {
    const byHand = [...byDevice].map(([device, override]) => ({ device, ...override }));
    // A full disk must not keep a display from being switched.
    state
      ?.update((before) => ({ ...before, byHand }))
      .catch((error: unknown) => log.error({ err: error }, 'the order for a display could not be saved'));
  };

  return {
    get: (id) => byDevice.get(deviceOf(id) ?? ''),
    set: (id, override) => {
      const device = deviceOf(id);
      if (device === undefined) return;
      byDevice.delete(device);
      byDevice.set(device, override);
      for (const oldest of [...byDevice.keys()].slice(0, -MAX_OVERRIDES)) byDevice.delete(oldest);
      save();
    },
    delete: (id) => {
      if (byDevice.delete(deviceOf(id) ?? '')) save();
    },
  };
};
