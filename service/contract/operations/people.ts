/** People with keys of their own. */
import { z } from 'zod';
import {
  invitation,
  joined,
  joinRequest,
  keyAdded,
  keyId,
  keyRequest,
  me,
  peerKeys,
  people as peopleList,
  person,
  personId,
  personRequest,
  signInBegun,
  signInId,
  signInState,
} from '../console/people.ts';
import { digestExample, momentExample } from './examples.ts';
import { json, type Operations, ok, okSealable } from './operation.ts';

const keyExample = digestExample.slice(0, 32);
const publicKeyExample = `${'a1B2'.repeat(10)}a1A`;
const personExample = {
  id: 'maria',
  name: 'Maria',
  role: 'editor',
  tags: ['lobby'],
  keys: [
    {
      id: keyExample,
      device: 'Maria’s phone',
      added_at: momentExample,
      last_used_at: momentExample,
      invited_by: { id: 'anna', name: 'Anna' },
      address: '192.168.1.77',
      ends_at: null,
    },
  ],
  created_at: momentExample,
  disabled_at: null,
};
const params = z.object({ id: personId });
const examples = { id: 'maria' };

export const people = {
  'GET /console/api/me': {
    role: 'viewer',
    forSecret: true,
    summary: 'Get who signs, and what they may do',
    answer: ok('Who signs.', me, { person: { id: 'maria', name: 'Maria' }, role: 'editor', tags: [] }),
  },
  'GET /console/api/people': {
    role: 'editor',
    summary: 'List people and their keys',
    answer: ok('All people, those that are disabled included.', peopleList, {
      people: [personExample],
      behind: [],
      degraded: false,
    }),
    errors: ['secret_required'],
  },
  'PUT /console/api/people/:id': {
    role: 'admin',
    audit: { action: 'person.change', subject: 'person', id: 'id' },
    summary: 'Make a person, or change one',
    description:
      '`If-None-Match: *` fails where there is a person of this id, so that two who make one do not change the other’s.',
    params,
    body: json(personRequest, { name: 'Maria', role: 'editor', tags: ['lobby'] }),
    answer: {
      201: { description: 'The new person, who has no key yet: invite them.', content: json(person, personExample) },
      200: { description: 'The person.', content: json(person, personExample) },
    },
    errors: ['secret_required', 'precondition_failed', 'too_many_people', 'last_admin', 'insufficient_storage'],
    examples,
  },
  'DELETE /console/api/people/:id': {
    role: 'admin',
    audit: { action: 'person.disable', subject: 'person', id: 'id' },
    summary: 'Disable a person',
    description:
      'Their keys do not count from now on, and what they have under way ends: on all boxes that are reached within 2 s.',
    params,
    answer: { 204: { description: 'The person is disabled.' } },
    errors: ['invalid_field', 'secret_required', 'person_not_found', 'last_admin', 'insufficient_storage'],
    examples,
  },
  'POST /console/api/people/:id/keys': {
    role: 'viewer',
    audit: { action: 'key.add', subject: 'person', id: 'id', fields: ['device'] },
    summary: 'Add a further key of one’s own',
    description: 'Signed with a key of that person alone.',
    params,
    body: json(keyRequest, { public_key: publicKeyExample, device: 'Maria’s laptop' }),
    answer: { 201: { description: 'The id of the key.', content: json(keyAdded, { key: keyExample }) } },
    errors: ['secret_required', 'person_required', 'invitation_invalid', 'too_many_keys', 'insufficient_storage'],
    examples,
  },
  'DELETE /console/api/people/:id/keys/:keyId': {
    role: 'viewer',
    audit: { action: 'key.remove', subject: 'person', id: 'id' },
    summary: 'Remove a key',
    description: 'By that person or an admin. A key that was removed is never accepted again.',
    params: z.object({ id: personId, keyId }),
    answer: { 204: { description: 'The key is removed.' } },
    errors: [
      'invalid_field',
      'secret_required',
      'person_not_found',
      'key_not_found',
      'last_admin',
      'insufficient_storage',
    ],
    examples: { ...examples, keyId: keyExample },
  },
  'POST /console/api/people/:id/invitations': {
    role: 'admin',
    audit: { action: 'person.invite', subject: 'person', id: 'id' },
    summary: 'Invite a person to join with a key',
    description:
      'Over https, or from the box itself alone, since the answer is the code. It counts once, for 24 hours; a new invitation of the person ends the one before.',
    params,
    answer: {
      201: {
        description: 'The invitation.',
        content: json(invitation, {
          code: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
          url: 'https://192.168.1.20:8443/console#join=maria.ABCDEFGHIJKLMNOPQRSTUVWXYZ',
          expires_at: momentExample,
        }),
      },
    },
    errors: ['invalid_field', 'secret_required', 'secure_required', 'person_not_found', 'insufficient_storage'],
    examples,
  },
  'POST /console/api/join': {
    access: 'public',
    audit: { action: 'person.join', subject: 'person', id: 'person', fields: ['device'] },
    summary: 'Join with an invitation',
    description:
      'The answer is proven as that to a signed request is, keyed as `proof` is, and with `proof` in the place of the signature header: this box knew the code.',
    body: json(joinRequest, {
      person: 'maria',
      public_key: publicKeyExample,
      device: 'Maria’s phone',
      proof: digestExample,
    }),
    answer: {
      201: {
        description: 'The key counts.',
        content: json(joined, {
          key: keyExample,
          person: { id: 'maria', name: 'Maria' },
          role: 'editor',
          tags: ['lobby'],
          root: null,
        }),
      },
    },
    errors: ['secret_required', 'invitation_invalid', 'too_many_keys', 'too_many_requests', 'insufficient_storage'],
  },
  'POST /console/api/oidc': {
    access: 'public',
    summary: 'Begin to sign in with the provider of the house',
    description:
      'Over https, or from the box itself alone: a host in between would put in a key of its own. The key counts for 12 hours once the person has signed in there, on any device, with a claim that gives a role. At most 20 sign-ins are open, 5 of an address.',
    body: json(keyRequest, { public_key: publicKeyExample, device: 'Maria’s laptop' }),
    answer: {
      201: {
        description: 'Where the person signs in.',
        content: json(signInBegun, {
          id: digestExample.slice(0, 32),
          user_code: 'BDWP-HQPK',
          verification_uri: 'https://login.example.com/device',
          verification_uri_complete: 'https://login.example.com/device?user_code=BDWP-HQPK',
          expires_at: momentExample,
          interval: 5,
        }),
      },
    },
    errors: ['secret_required', 'secure_required', 'sign_on_unavailable', 'issuer_away', 'too_many_requests'],
  },
  'GET /console/api/oidc/:id': {
    access: 'public',
    summary: 'Get whether a sign-in is done',
    params: z.object({ id: signInId }),
    answer: ok('The sign-in.', signInState, {
      state: 'done',
      key: keyExample,
      person: { id: 'sso-0123456789abcdef', name: 'Maria' },
      role: 'editor',
      tags: [],
    }),
    errors: ['secret_required', 'sign_in_not_found'],
    examples: { id: digestExample.slice(0, 32) },
  },
  'GET /api/peers/keys': {
    summary: 'Get when keys were used at this box, and which removals it knows',
    answer: okSealable('What this box knows.', peerKeys, {
      used: { [keyExample]: momentExample },
      removals: digestExample,
    }),
  },
} as const satisfies Operations;
