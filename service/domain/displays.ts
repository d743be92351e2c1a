/** Which devices are known to show a screen: those that are bound to one, and the displays of this box. Pure. */
import type { KioskHealth } from '../contract/health.ts';
import { canonicalDeviceId } from '../contract/readable.ts';

/** @param device undefined: it is not known */
export const isBound = (device: { screenSlug?: string | null } | undefined): boolean => device?.screenSlug != null;

/** @param kiosk the displays of this box; undefined: it has none */
export const isDisplayOf = (kiosk: Pick<KioskHealth, 'screens'> | undefined, deviceId: string): boolean => {
  const id = canonicalDeviceId(deviceId);
  return kiosk?.screens.some((own) => canonicalDeviceId(own.deviceId) === id) ?? false;
};
