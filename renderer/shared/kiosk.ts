import type { KioskBridge } from '../../service/contract/kiosk.ts';

/** The API of the kiosk; undefined in a browser. */
export const findKiosk = (): KioskBridge | undefined => (globalThis as { kiosk?: KioskBridge }).kiosk;
