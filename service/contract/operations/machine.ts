/** The machine of a box: actions on it. */
import { z } from 'zod';
import { actionAnswer, boxOrder } from '../console/actions.ts';
import { nodeExample } from './examples.ts';
import { json, type Operations, ok } from './operation.ts';

export const orderExample = { action: 'volume', value: 40 };
export const actionExample = { result: 'done', state: 40, message: 'The volume is 40.' };

export const machine = {
  'POST /console/api/boxes/:nodeId/actions': {
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
} as const satisfies Operations;
