/** What the maintenance page shows, put together from what there is: pure. */
import type { Place } from './displays.ts';
import type { Fault, Hours, KioskHealth, KioskSettings, MaintenanceView } from './service-host.ts';

interface Sources {
  version: string;
  address: string | null;
  fault: Fault | null;
  screens: MaintenanceView['screens'];
  updates: KioskHealth['updates'];
  /** Null: they can't be read. */
  settings: Pick<KioskSettings, 'displays' | 'updates'> | null;
  places: readonly Place[];
  /** Slug of the screen that a device is bound to; null: none. */
  screenOf(deviceId: string): string | null;
  hours(slug: string): Hours;
  log: readonly string[];
}

export const viewOf = ({
  version,
  updates,
  settings,
  places,
  screenOf,
  hours,
  fault,
  ...rest
}: Sources): MaintenanceView => ({
  ...rest,
  version: settings === null ? version : `${version} (${settings.updates.channel})`,
  updates: { ...updates, hours: settings?.updates.hours ?? null },
  fault: fault?.message ?? null,
  displays: settings === null ? 'all' : typeof settings.displays === 'string' ? settings.displays : 'chosen',
  places: places.map((place) => {
    const screen = place.screen ?? screenOf(place.deviceId);
    const { width, height } = place.display.bounds;
    return {
      id: place.display.id,
      name: `${place.display.label || `Display ${place.number}`}, ${width} × ${height}`,
      deviceId: place.deviceId,
      screen,
      isFixed: place.screen !== null,
      rotation: place.rotation,
      hours: screen === null ? null : hours(screen),
    };
  }),
});
