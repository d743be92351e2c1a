import type { deviceHeader } from '../../service/contract/onboarding.ts';

// By its type the same as in the vocabulary, whose schemas a phone need not load.
const header: typeof deviceHeader = 'x-signage-device';

/** The header by which a page of a device tells the service that the device exists. */
export const deviceHeaders = (deviceId: string): Record<string, string> => ({ [header]: deviceId });
