/** Triggers: what other systems start by an address. */
import { z } from 'zod';
import { newTrigger, triggerDid, triggerId, triggerList, triggerRequest, triggerTrial } from '../console/triggers.ts';
import { momentExample } from './examples.ts';
import { json, type Operations, ok } from './operation.ts';

const id = '5f0c2a9be4d17386';
const name = 'Fire panel';
const effect = { takeover: { message_id: 'fire', targets: ['all'] } };
const token = '9c1e6f0b7a2d4853b1c0e9f8a7d6c5b4';
const made = { created_at: momentExample, created_by: { id: null, name: 'Ada' } };
const params = z.object({ id: triggerId });
const examples = { id };
export const triggers = {
  'GET /console/api/triggers': {
    role: 'viewer',
    summary: 'List the triggers',
    description: 'Without their tokens.',
    answer: ok('The triggers.', triggerList, {
      triggers: [{ id, name, effect, ...made, fired_at: null, issue: null }],
    }),
  },
  'POST /console/api/triggers': {
    role: 'admin',
    audit: { action: 'trigger.create', subject: 'trigger', id: 'id' },
    summary: 'Make a trigger',
    description:
      'The answer alone holds its token. Whoever has that can fire the trigger until it is revoked; over plain http every host on the way can read it.',
    body: json(triggerRequest, { name, effect }),
    answer: ok('The trigger.', newTrigger, {
      id,
      name,
      token,
      url: `https://192.168.1.20:8443/api/triggers/${token}`,
    }),
    errors: ['unknown_command', 'too_many_triggers', 'insufficient_storage'],
  },
  'DELETE /console/api/triggers/:id': {
    role: 'admin',
    audit: { action: 'trigger.delete', subject: 'trigger', id: 'id' },
    summary: 'Revoke a trigger',
    description: 'For ever, on all boxes. A playlist that it put on screens ends; a takeover that it started stays.',
    params,
    answer: { 204: { description: 'The trigger is revoked.' } },
    errors: ['trigger_not_found', 'insufficient_storage'],
    examples,
  },
  'POST /console/api/triggers/:id/try': {
    role: 'admin',
    summary: 'Try a trigger without showing anything',
    description: 'Checks all that firing it would check.',
    params,
    answer: ok('What it would do.', triggerTrial, { id, ok: true, issue: null, screens: ['lobby'], displays: 2 }),
    errors: ['trigger_not_found'],
    examples,
  },
  'POST /api/triggers/:token': {
    access: 'public',
    summary: 'Fire a trigger',
    description:
      'By its token alone. The body, of any type and up to 64 KiB, is ignored. At most 10 requests a second to one trigger, and 10 a second with unknown tokens from one address, which never count against a known one.',
    params: z.object({ token: z.string().describe('Token of a trigger.') }),
    body: { '*/*': { schema: z.string().meta({ format: 'binary' }) } },
    answer: ok('What it did.', triggerDid, {
      id,
      did: { takeover: { id: 'message-fire', targets: ['all'], until: null } },
    }),
    errors: [
      ...(['trigger_not_found', 'message_not_found', 'playlist_not_found', 'target_not_found'] as const),
      ...(['payload_too_large', 'request_timeout', 'too_many_requests', 'too_many_takeovers'] as const),
      ...(['invalid_field', 'not_supported', 'insufficient_storage'] as const),
    ],
    examples: { token },
  },
} as const satisfies Operations;
