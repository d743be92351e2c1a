/** Onboarding: binding devices to screens. */
import { z } from 'zod';
import {
  binding,
  deviceHeader,
  deviceKnownHeader,
  deviceQuery,
  onboardingResult,
  onboardingScreens,
  onboardingStatus,
} from '../onboarding.ts';
import { deviceId as deviceIdSchema } from '../terms.ts';
import { deviceExample, screenExample } from './examples.ts';
import { type Operations, ok, okSealable, sealable } from './operation.ts';

const { deviceId, clientName, screenSlug } = deviceExample;
const examples = { deviceId };

export const onboarding = {
  'GET /api/onboarding/status': {
    access: 'public',
    variant: 'extended',
    summary: 'Get the binding of a device',
    description:
      'For an unknown device the response is 200 with `onboarded: false` and nulls. A page of a device names it in `x-signage-device`; a request alone does not make an id known.',
    query: deviceQuery,
    headers: z.object({ [deviceHeader]: deviceIdSchema.optional().describe('Id of the device whose page asks.') }),
    answer: {
      200: {
        ...ok('The persisted status.', onboardingStatus, { ...deviceExample, onboarded: true })[200],
        headers: {
          [deviceKnownHeader]: {
            description: 'Whether a box of the site has seen a page of the device, or has a record of it',
            schema: z.enum(['true', 'false']),
            required: true,
          },
        },
      },
    },
    errors: [],
    examples,
  },
  'GET /api/onboarding/screens': {
    access: 'public',
    variant: 'extended',
    summary: 'List the screens that a device can be bound to',
    answer: ok('All screens.', onboardingScreens, { screens: [screenExample] }),
    errors: [],
  },
  'GET /api/onboarding/qr': {
    access: 'public',
    variant: 'extended',
    summary: 'Get the QR code of the onboarding form for a device',
    query: deviceQuery,
    answer: {
      200: {
        description: 'The QR code (ISO/IEC 18004), as SVG.',
        content: {
          'image/svg+xml': { schema: z.string(), example: '<svg xmlns="http://www.w3.org/2000/svg">...</svg>' },
        },
      },
    },
    errors: [],
    examples,
  },
  'POST /api/onboarding': {
    access: 'signed or page',
    variant: 'extended',
    audit: { action: 'device.bind', subject: 'device', id: 'deviceId' },
    summary: 'Bind a device to a screen and a name',
    description: 'Replaces an earlier binding of the device. The binding is durable when the response is sent.',
    body: sealable(binding, { deviceId, clientName, screenSlug }),
    answer: okSealable('The binding.', onboardingResult, { ...deviceExample, queued: false }),
    errors: ['screen_not_found', 'insufficient_storage'],
  },
} as const satisfies Operations;
