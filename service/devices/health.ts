import type { DeviceBinding } from '../contract/peers.ts';
import { limitSentences } from '../domain/sentences.ts';

/** The devices that are away, for `/healthz`. */
export const deviceIssues = (away: readonly DeviceBinding[]): string[] =>
  limitSentences(
    away.map(
      ({ clientName, deviceId, screenSlug }) =>
        `The device "${clientName}" (${deviceId}) of the screen "${screenSlug}" is away.`,
    ),
    'devices are away',
  );
