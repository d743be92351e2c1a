import type { KioskBridge } from '../../service/wire/kiosk.ts';

/** The kiosk that shows this page; undefined in a browser that is none. */
export const findKiosk = (): KioskBridge | undefined => (globalThis as { kiosk?: KioskBridge }).kiosk;
