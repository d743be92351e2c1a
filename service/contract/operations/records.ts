/** Records of what happened. */
import { auditAnswer, peerAudit } from '../console/audit.ts';
import { momentExample, nodeExample } from './examples.ts';
import { type Operations, ok } from './operation.ts';

const change = {
  at: momentExample,
  node_id: nodeExample,
  operator: 'Ada',
  address: '192.168.1.24',
  action: 'device.bind',
  target: 'h4np-8s2v-c6ya',
  before: null,
  after: { clientName: 'Lobby left', screenSlug: 'lobby' },
  result: 'ok',
};

export const records = {
  'GET /console/api/audit': {
    access: 'signed',
    variant: 'extended',
    setting: 'console',
    summary: 'Get who changed what',
    description:
      'The last 1,000 changes of the site. Credentials that were refused are counted, in one record a minute and address.',
    answer: ok('The changes.', auditAnswer, { records: [change], degraded: false }),
    errors: [],
  },
  'GET /api/peers/audit': {
    access: 'signed',
    variant: 'extended',
    summary: 'Get the changes that this box was asked for',
    answer: ok('The changes.', peerAudit, { records: [change] }),
    errors: [],
  },
} as const satisfies Operations;
