/** Onboarding: binding devices to screens. */
import { z } from 'zod';
import {
  binding,
  claimCode,
  claimHeader,
  deviceHeader,
  deviceKnownHeader,
  deviceProofHeader,
  deviceQuery,
  onboardingNames,
  onboardingResult,
  onboardingScreens,
  onboardingStatus,
  proofNeedsHeader,
} from '../onboarding.ts';
import { zoneHeader } from '../playlist.ts';
import { deviceId as deviceIdSchema } from '../terms.ts';
import { deviceExample, screenExample } from './examples.ts';
import { type Operations, ok, okSealable, sealable } from './operation.ts';

const { deviceId, clientName, screenSlug } = deviceExample;
const examples = { deviceId };

const proof = {
  [deviceProofHeader]: z
    .string()
    .optional()
    .describe(
      'Proof that the request is of the page of the device: `v1;key=K;at=MS;nonce=N;sig=S`. S is the Ed25519 signature over the lines `signage-device-v1`, device id, node id of the box, MS, N.',
    ),
};
const proofNeeds = {
  [proofNeedsHeader]: {
    description: 'The proof was not taken: the node id and the time, `NODEID;MS`, to sign once more with',
    schema: z.string(),
  },
};

export const onboarding = {
  'GET /api/onboarding/status': {
    access: 'public',
    summary: 'Get the binding of a device',
    description:
      'For an unknown device the response is 200 with `onboarded: false` and nulls. A page of a device names it in `x-signage-device`; a request alone does not make an id known.',
    query: deviceQuery,
    headers: z.object({
      [deviceHeader]: deviceIdSchema.optional().describe('Id of the device whose page asks.'),
      ...proof,
    }),
    answer: {
      200: {
        ...ok('The persisted status.', onboardingStatus, { ...deviceExample, onboarded: true })[200],
        headers: {
          [deviceKnownHeader]: {
            description: 'Whether a box of the site has seen a page of the device, or has a record of it',
            schema: z.enum(['true', 'false']),
            required: true,
          },
          [claimHeader]: {
            description: 'With a secret, to a landing page that proves its device: the code to show',
            schema: claimCode,
          },
          ...proofNeeds,
        },
      },
    },
    examples,
  },
  'GET /api/onboarding/screens': {
    access: 'public',
    summary: 'List the screens that a device can be bound to',
    answer: ok('All screens.', onboardingScreens, { screens: [screenExample] }),
  },
  'GET /api/onboarding/names': {
    role: 'viewer',
    access: 'signed or page',
    summary: 'List the names that other devices have',
    query: deviceQuery,
    answer: okSealable('The names.', onboardingNames, { names: [clientName] }),
    examples,
  },
  'GET /api/onboarding/qr': {
    access: 'public',
    summary: 'Get the QR code of the onboarding form for a device',
    description: 'With the proof of a device that waits to be bound, the address in the code holds its claim code.',
    query: deviceQuery,
    headers: z.object(proof),
    answer: {
      200: {
        description: 'The QR code (ISO/IEC 18004), as SVG.',
        headers: proofNeeds,
        content: {
          'image/svg+xml': { schema: z.string(), example: '<svg xmlns="http://www.w3.org/2000/svg">...</svg>' },
        },
      },
    },
    examples,
  },
  'POST /api/onboarding': {
    role: 'viewer',
    scope: 'judged',
    access: 'signed or page',
    audit: { action: 'device.bind', subject: 'device', id: 'deviceId' },
    summary: 'Bind a device to a screen and a name',
    description:
      'Replaces an earlier binding of the device. The binding is durable when the response is sent. With a page token the request needs the claim code that the display shows.',
    headers: z.object({
      [claimHeader]: z.string().optional().describe('Claim code, in any case, with spaces or dashes.'),
      [zoneHeader]: z
        .string()
        .optional()
        .describe(
          'IANA time zone of the phone. A kiosk without a setting of it, on a machine in UTC, takes that of an unsigned request which binds the first of its displays; its service then starts again within seconds.',
        ),
    }),
    body: sealable(binding, { deviceId, clientName, screenSlug }),
    answer: okSealable('The binding.', onboardingResult, { ...deviceExample, queued: false }),
    errors: ['claim_required', 'claim_invalid', 'screen_not_found', 'too_many_requests', 'insufficient_storage'],
  },
} as const satisfies Operations;
