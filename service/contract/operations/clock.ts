/** The time of the site. */
import { peerTime } from '../peers.ts';
import { nodeExample } from './examples.ts';
import { type Operations, ok } from './operation.ts';

export const clock = {
  'GET /api/peers/time': {
    access: 'signed',
    variant: 'extended',
    summary: "Get this box's reading of the site's clock",
    answer: ok('Two readings.', peerTime, {
      nodeId: nodeExample,
      established: true,
      received: 1769846400000.25,
      sent: 1769846400000.5,
    }),
    errors: [],
  },
} as const satisfies Operations;
