/** The time of the site. */
import { peerTime } from '../peers.ts';
import { nodeExample } from './examples.ts';
import { type Operations, okSealable } from './operation.ts';

export const clock = {
  'GET /api/peers/time': {
    summary: "Get this box's reading of the site's clock",
    description:
      'With a secret it is also the first request to an address: the signed response proves the node id of the box there.',
    answer: okSealable('Two readings.', peerTime, {
      nodeId: nodeExample,
      established: true,
      received: 1769846400000.25,
      sent: 1769846400000.5,
    }),
  },
} as const satisfies Operations;
