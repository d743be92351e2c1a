/** Assembles the data of the maintenance page. Pure. */

import type { Hours, KioskHealth, KioskSettings, MaintenanceView } from '../service/public.ts';
import type { DisplayAssignment } from './displays.ts';
import type { StartError } from './start-error.ts';

interface Sources {
  version: string;
  address: string | null;
  startError: StartError | null;
  screens: MaintenanceView['screens'];
  updates: KioskHealth['updates'];
  /** Null: they cannot be read. */
  settings: Pick<KioskSettings, 'displays' | 'updates'> | null;
  assignments: readonly DisplayAssignment[];
  /** The slug of the screen that a device is bound to; null: none. */
  screenOf(deviceId: string): string | null;
  hours(slug: string): Hours;
  log: readonly string[];
}

export const maintenanceView = ({
  version,
  updates,
  settings,
  assignments,
  screenOf,
  hours,
  startError,
  ...rest
}: Sources): MaintenanceView => ({
  ...rest,
  version: settings === null ? version : `${version} (${settings.updates.channel})`,
  updates: { ...updates, hours: settings?.updates.hours ?? null },
  error: startError?.message ?? null,
  displays: settings === null ? 'all' : typeof settings.displays === 'string' ? settings.displays : 'chosen',
  assignments: assignments.map((assignment) => {
    const screen = assignment.screen ?? screenOf(assignment.deviceId);
    const { width, height } = assignment.display.bounds;
    return {
      id: assignment.display.id,
      name: `${assignment.display.label || `Display ${assignment.number}`}, ${width} × ${height}`,
      deviceId: assignment.deviceId,
      screen,
      isFixed: assignment.screen !== null,
      rotation: assignment.rotation,
      hours: screen === null ? null : hours(screen),
    };
  }),
});
