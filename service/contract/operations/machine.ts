/** The machine of a box: actions on it. */
import { z } from 'zod';
import { actionAnswer, boxOrder } from '../console/actions.ts';
import { confirmHeaders, restored } from '../console/backup.ts';
import { tarType } from '../console/backup-names.ts';
import { protectedSite, protectRequest } from '../console/protection.ts';
import { digestExample, momentExample, nodeExample } from './examples.ts';
import { file, json, type Operations, ok } from './operation.ts';

export const orderExample = { action: 'volume', value: 40 };
export const actionExample = { result: 'done', state: 40, message: 'The volume is 40.' };

export const machine = {
  'POST /console/api/boxes/:nodeId/actions': {
    role: 'publisher',
    scope: 'refused',
    audit: { action: 'box.action', subject: 'box', id: 'nodeId', fields: ['action', 'display', 'value'] },
    summary: 'Act on the machine of a box',
    description:
      'The answer is what the hardware told within 5 s, not what was sent. A second order within 10 s gets the answer of the first. Without displays, pages show `identify`, and all other actions are not supported. Without a secret, `reboot`, `power-off` and `reset` are taken from the box itself alone (`x-signage-local`).',
    params: z.object({ nodeId: z.string().describe('Id of a box.') }),
    body: json(boxOrder, orderExample),
    answer: ok('What became of it.', actionAnswer, actionExample),
    errors: ['local_required', 'box_not_found', 'update_in_trial', 'box_away'],
    examples: { nodeId: nodeExample },
  },
  'POST /console/api/protect': {
    role: 'admin',
    audit: { action: 'box.protect', subject: 'box' },
    summary: 'Protect the site with a secret',
    description:
      'From the box itself alone (`x-signage-local`), which writes the secret to its `config.json` and starts again with it. No operation sets the secret of another box: each gets it at the box. The answer is the only one that tells it.',
    body: json(protectRequest, {}),
    answer: {
      201: {
        description: 'The secret of the site.',
        content: json(protectedSite, {
          secret: 'Zk1uQ3d2b0tXc1RrR2x5d0FqUk1oQnZZ',
          config: '{ "sharedSecret": "Zk1uQ3d2b0tXc1RrR2x5d0FqUk1oQnZZ" }',
          boxes: [{ nodeId: nodeExample, url: 'http://192.168.1.21:8080' }],
          restart_required: false,
        }),
      },
    },
    errors: ['local_required', 'already_protected', 'insufficient_storage'],
  },
  'GET /console/api/backup': {
    role: 'admin',
    audit: { action: 'box.backup', subject: 'box' },
    summary: 'Back the box up',
    description:
      'One tar, `manifest.json` first: format, names, types, times and SHA-256 of all members. It holds content, versions, media, bindings, takeovers, people, drafts, triggers and settings, but no secret, PIN or password of config.json, no private key and no invitation. Addresses in the content are as they were written. It is not proven, as all that is streamed. Without a secret it is given to the box itself alone (`x-signage-local`).',
    answer: file('The backup.', tarType),
    errors: ['local_required', 'too_many_requests', 'busy'],
  },
  'POST /console/api/restore': {
    role: 'admin',
    audit: { action: 'box.restore', subject: 'box' },
    summary: 'Restore a backup',
    description:
      'All of it is read and checked before anything changes. It is an edit of now: the content becomes a new version, media become uploads, bindings the newest, and takeovers come back ended. The box keeps its node id and keys, and settings that belong to a machine. Without a secret it is taken from the box itself alone (`x-signage-local`).',
    headers: confirmHeaders,
    body: { [tarType]: { schema: z.string().meta({ format: 'binary' }) } },
    answer: ok('What was restored.', restored, {
      content: { sha256: digestExample, changedAt: momentExample },
      media: 12,
      versions: 50,
      bindings: 3,
      takeovers: 0,
      settings: ['site', 'timeZone'],
      left_out: ['The setting port of config.json belongs to the box that it was written on.'],
      restart_required: false,
    }),
    errors: [
      ...(['local_required', 'missing_field', 'invalid_field', 'unsupported_media_type', 'payload_too_large'] as const),
      ...(['backup_damaged', 'backup_newer', 'box_older', 'invalid_content'] as const),
      ...(['insufficient_storage', 'too_many_requests'] as const),
    ],
  },
} as const satisfies Operations;
