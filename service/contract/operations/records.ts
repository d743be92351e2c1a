import { z } from 'zod';
import { auditAnswer, auditQuery, peerAudit, peerAuditQuery } from '../console/site.ts';
import { degradedHeader } from '../headers.ts';
import { type Play, peerPlays, peerPlaysQuery, play, playsQuery } from '../plays.ts';
import { deviceExample, digestExample, momentExample, nodeExample, playExample } from './examples.ts';
import { json, type Operations, ok, okSealable } from './operation.ts';

const change = {
  at: momentExample,
  node_id: nodeExample,
  operator: 'Ada',
  person: { id: 'ada', name: 'Ada' },
  address: '192.168.1.24',
  action: 'device.bind',
  target: 'H4NP8S2VC6YA5R1T',
  before: null,
  after: { clientName: 'Lobby left', screenSlug: 'lobby' },
  result: 'ok',
};

const { play_id, slide_id, slide_title, kind, media_url, ...rest } = playExample;
const kept: Play = {
  play_id,
  site: 'default',
  node_id: nodeExample,
  device_id: deviceExample.deviceId,
  client_name: deviceExample.clientName,
  slide_id,
  slide_title,
  kind,
  media_url,
  media_sha256: digestExample,
  ...rest,
  screen: 'lobby',
};

const columns = Object.keys(play.shape) as (keyof Play)[];

export const records = {
  'GET /console/api/plays': {
    role: 'viewer',
    summary: 'List plays',
    description:
      'Streams the plays of the site, ordered by `started_at`. If the connection is closed before the end of the body, a box failed during the export. The response is not signed, because its body is streamed.',
    query: playsQuery,
    answer: {
      200: {
        description: 'The plays.',
        headers: {
          [degradedHeader]: {
            description: 'Whether a known box did not answer, so that its plays are missing',
            schema: z.enum(['true', 'false']),
            required: true,
          },
        },
        content: {
          ...json(z.array(play), [kept]),
          'text/csv': {
            schema: z.string(),
            example: `${columns.join(',')}\r\n${columns.map((name) => kept[name]).join(',')}\r\n`,
          },
        },
      },
    },
    errors: ['invalid_field', 'too_many_requests'],
    examples: { from: '2026-01-31', screen: 'lobby' },
  },
  'GET /api/peers/plays': {
    summary: 'List plays of this box, paginated',
    query: peerPlaysQuery,
    answer: okSealable('The plays.', peerPlays, { plays: [kept], next: null }),
  },
  'GET /console/api/audit': {
    role: 'editor',
    summary: 'List audit records',
    description:
      'The newest changes of the site. Refused credentials are counted in one record per minute and address.',
    query: auditQuery,
    examples: { from: '2026-01-31', kind: 'device' },
    answer: ok('The changes.', auditAnswer, { records: [change], degraded: false }),
  },
  'GET /api/peers/audit': {
    summary: 'List audit records of this box',
    query: peerAuditQuery,
    answer: okSealable('The changes.', peerAudit, { records: [change] }),
  },
} as const satisfies Operations;
