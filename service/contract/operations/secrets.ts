/** Secrets of pages: what the kiosk tells sites that ask who it is. */
import { z } from 'zod';
import { secret, secretList, secretName, secretRequest } from '../console/secrets.ts';
import { momentExample } from './examples.ts';
import { json, type Operations, ok } from './operation.ts';

const origins = ['https://dash.example.com'];
const example = { name: 'dash', origins, updated_at: momentExample };
const params = z.object({ name: secretName });
const examples = { name: 'dash' };

export const secrets = {
  'GET /console/api/secrets': {
    role: 'viewer',
    summary: 'List the secrets of pages',
    description: 'Their names and origins, never their values.',
    answer: ok('The secrets.', secretList, { secrets: [example] }),
  },
  'PUT /console/api/secrets/:name': {
    role: 'admin',
    audit: { action: 'secret.set', subject: 'secret', id: 'name' },
    summary: 'Set a secret of pages',
    description:
      'A kiosk adds its headers to requests of a slide that names it (`content.web.headers`), to exactly these origins. Taken over https or from the box itself. Boxes exchange it sealed.',
    params,
    body: json(secretRequest, { origins, headers: { Authorization: 'Bearer 0123456789' } }),
    answer: {
      201: { description: 'The new secret, without its values.', content: json(secret, example) },
      200: { description: 'The secret, without its values.', content: json(secret, example) },
    },
    errors: ['secret_required', 'secure_required', 'too_many_secrets', 'insufficient_storage'],
    examples,
  },
  'DELETE /console/api/secrets/:name': {
    role: 'admin',
    audit: { action: 'secret.delete', subject: 'secret', id: 'name' },
    summary: 'Delete a secret of pages',
    description: 'On all boxes. Slides that name it are skipped.',
    params,
    answer: { 204: { description: 'The secret is deleted.' } },
    errors: ['invalid_field', 'secret_not_found', 'insufficient_storage'],
    examples,
  },
} as const satisfies Operations;
