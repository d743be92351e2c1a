import type { KioskBridge } from '../../service/contract/kiosk.ts';

/** The kiosk that shows this page; undefined in a browser that is none. */
export const findKiosk = (): KioskBridge | undefined => (globalThis as { kiosk?: KioskBridge }).kiosk;
