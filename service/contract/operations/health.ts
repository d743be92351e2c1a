/** How the box is, for people and for monitoring. */
import { z } from 'zod';
import { health as healthAnswer } from '../health.ts';
import { deviceExample, digestExample, momentExample, nodeExample } from './examples.ts';
import { type Operations, ok } from './operation.ts';

const gaps = { count: 4012, p50: 0, p99: 0, max: 16.7 };

export const health = {
  'GET /healthz': {
    access: 'public',
    variant: 'baseline',
    summary: 'Get the health of the box',
    description: 'Responds with 200 as long as the service can respond; problems are reported in the body.',
    answer: ok('The state of every part of the service.', healthAnswer, {
      status: 'ok',
      version: '0.1.0',
      variant: 'extended',
      nodeId: nodeExample,
      startedAt: momentExample,
      uptime: 86400.2,
      warnings: [],
      store: { faults: [] },
      content: { status: 'ok', errors: [], warnings: [], replaced: [] },
      rssFeeds: [{ id: 'news', status: 'ok', fetched_at: momentExample, reason: null }],
      apiSources: [{ id: 'weather', status: 'stale', fetched_at: momentExample, reason: 'it answered 502' }],
      connections: 2,
      copies: { count: 12, bytes: 731906048, quota: 68719476736, pending: 0, failed: [] },
      site: 'default',
      peers: [
        {
          nodeId: '6f1c550b-9d3c-4e5f-8f4a-869d372b1c0a',
          url: 'http://192.168.1.21:8080',
          state: 'alive',
          reason: null,
          lastContactAt: momentExample,
          version: '0.1.0',
        },
      ],
      gaps,
      pages: [
        {
          connectionId: '0b9d3c1e-5f0f-4a86-9d37-2b1c0a6f1c55',
          screenSlug: deviceExample.screenSlug,
          clock: 'ok',
          gaps,
          lastFault: null,
        },
      ],
      sync: { reference: nodeExample, established: true, offset: -3.2, roundTrip: null, swaps: null, videos: null },
      replication: {
        content: { counter: 7, nodeId: nodeExample, sha256: digestExample, changedAt: momentExample },
        lost: [],
        refused: [],
        media: { named: 9, here: 9, missing: [] },
        lostUploads: [],
      },
      fleet: {
        status: 'connected',
        url: 'tls://hub.example.com:4222',
        since: momentExample,
        reason: null,
        refused: [],
        content: {
          wanted: digestExample,
          wantedPush: 'b7e23ec2-9af2-4b0b-9fdd-05fd21b3f6c1',
          state: 'applied',
          diverged: false,
          errors: [],
        },
      },
      ffmpeg: { path: '/usr/bin/ffmpeg', source: 'PATH', version: '7.1' },
      machine: {
        uptime: 86_520,
        memory: { total: 4_127_195_136, available: 2_684_354_560 },
        disk: { total: 31_272_321_024, free: 18_253_611_008 },
        temperature: 51.5,
        throttled: false,
      },
    }),
  },
  'GET /metrics': {
    access: 'public',
    summary: 'Get the metrics of the box',
    description: 'The text format of Prometheus. Collected at most once a second.',
    answer: {
      200: {
        description: 'The metrics.',
        content: {
          'text/plain': {
            schema: z.string(),
            example: [
              '# HELP signage_content_valid 1: content.json is valid; 0: it is not, and the last valid content plays, if there is any.',
              '# TYPE signage_content_valid gauge',
              'signage_content_valid 1',
              '',
            ].join('\n'),
          },
        },
      },
    },
  },
} as const satisfies Operations;
