import type { deviceHeader } from '../../service/contract/onboarding.ts';

// Typed by the contract, but not imported, so that a phone does not load its schemas.
const header: typeof deviceHeader = 'x-signage-device';

/** The header by which a page reports its device to the service. */
export const deviceHeaders = (deviceId: string): Record<string, string> => ({ [header]: deviceId });
