/** Operations between the boxes of a site. */
import { z } from 'zod';
import { peerAlerts } from '../alerts.ts';
import { connectionExample } from '../connections.ts';
import {
  bindingDigests,
  differingBindings,
  gossipAnswer,
  gossipRequest,
  memberExchange,
  memberRecords,
  peerNews,
  peerNewsAnswer,
  reachAnswer,
  reachQuery,
} from '../gossip.ts';
import {
  contentDocument,
  peerBindings,
  peerClaimAnswers,
  peerClaims,
  peerCommandAnswers,
  peerCommands,
  peerConnections,
  peerConnectionsQuery,
  peerContentQuery,
  peerDeletions,
  peerDevices,
  peerDevicesQuery,
  peerMedia,
  peerQuery,
  peerState,
  peerTakeovers,
  protocol,
} from '../peers.ts';
import { differingRecords, sharedDigests, sharedRecords } from '../shared.ts';
import { peerShow, peerShown } from '../show.ts';
import { deviceExample, digestExample, momentExample, nodeExample } from './examples.ts';
import { entityTag, type Operations, okSealable, sealable, unchanged } from './operation.ts';

const takeovers = {
  takeovers: [
    {
      id: 'lift',
      targets: ['all'],
      level: 'warning',
      title: 'The lift is out of order',
      body: null,
      media_url: null,
      from: momentExample,
      until: '2026-01-31T18:00:00.000Z',
      updatedAt: momentExample,
      endedAt: null,
    },
  ],
};

const alerts = {
  records: [
    {
      kind: 'device',
      subject: '4K7QM3X9FT2WD0AZ',
      isFailing: true,
      at: momentExample,
      message: 'The device "Door" (4K7QM3X9FT2WD0AZ) of the screen "lobby" is away.',
      isSent: true,
    },
  ],
};

const sharedExample = {
  id: 'maria',
  name: 'Maria',
  role: 'editor',
  tags: [],
  created_at: momentExample,
  updated_at: momentExample,
};

const sender = { from: '6f1c550b-9d3c-4e5f-8f4a-869d372b1c0a', port: 8080 };
const record = { nodeId: nodeExample, seq: 1769846400000, media: digestExample, devices: [deviceExample.deviceId] };
const version = { counter: 7, nodeId: nodeExample, sha256: digestExample };

export const peers = {
  'GET /api/peers/state': {
    acts: true,
    summary: 'Get the state of this box',
    description: '`from` and `port` tell the box where the caller listens.',
    query: peerQuery.partial(),
    answer: {
      200: {
        description: 'The state.',
        headers: entityTag,
        content: sealable(peerState, {
          nodeId: nodeExample,
          instance: '0b9d3c1e-5f0f-4a86-9d37-2b1c0a6f1c55',
          site: 'default',
          protocol,
          version: '0.1.0',
          serverTime: 1769846400000,
          startedAt: 1769842800000,
          seq: 1769846400000,
          peers: [{ nodeId: '6f1c550b-9d3c-4e5f-8f4a-869d372b1c0a', url: 'http://192.168.1.21:8080' }],
          content: version,
          bindings: digestExample,
          media: digestExample,
          takeovers: digestExample,
        }),
      },
      ...unchanged,
    },
  },
  'POST /api/peers/commands': {
    summary: 'Relay commands to the pages of this box',
    description: 'They are run only on this box, in order. An error of one does not affect the others.',
    body: sealable(peerCommands, {
      commands: [{ id: '5f0f4a86-9d37-4b1c-8a6f-1c550b9d3c1e', slug: 'lobby', body: { command: 'next' }, ageMs: 0 }],
    }),
    answer: okSealable('The results.', peerCommandAnswers, { answers: [{ sent: 2 }] }),
  },
  'POST /api/peers/show': {
    acts: true,
    summary: 'Have the pages of this box go to a slide',
    body: sealable(peerShow, { slug: 'lobby', slideId: 'welcome-1' }),
    answer: okSealable('On how many.', peerShown, { sent: 2 }),
  },
  'POST /api/peers/gossip': {
    acts: true,
    summary: 'Compare digests with this box',
    description: 'Each box does so every few seconds with one other box. The response contains the differences.',
    body: sealable(gossipRequest, { ...sender, digest: digestExample.slice(0, 16), members: digestExample.repeat(2) }),
    answer: okSealable('The differences.', gossipAnswer, {
      nodeId: nodeExample,
      instance: '0b9d3c1e-5f0f-4a86-9d37-2b1c0a6f1c55',
      serverTime: 1769846400000,
      summary: { content: version, bindings: digestExample, takeovers: digestExample },
      members: {
        digests: digestExample.repeat(2),
        entries: [[sender.from, 'http://192.168.1.21:8080', 1769846400000]],
      },
    }),
  },
  'POST /api/peers/members': {
    acts: true,
    summary: 'Exchange member records',
    body: sealable(memberExchange, { wanted: [nodeExample], records: [record], entries: [] }),
    answer: okSealable('The requested records.', memberRecords, { records: [record] }),
  },
  'GET /api/peers/reach': {
    acts: true,
    summary: 'Check whether this box can reach another one',
    description: 'A box that cannot reach another one asks a few others before it reports it as away.',
    query: reachQuery,
    answer: okSealable('Whether it can.', reachAnswer, { reached: true }),
    examples: { nodeId: nodeExample },
  },
  'POST /api/peers/news': {
    acts: true,
    summary: 'Notify this box of a change and have it forwarded',
    body: sealable(peerNews, { ...sender, content: version, targets: [nodeExample] }),
    answer: okSealable('Whether this box has the change.', peerNewsAnswer, { taken: true }),
  },
  'POST /api/peers/bindings/differing': {
    summary: 'Get the devices of this box in the buckets whose digests differ',
    body: sealable(bindingDigests, { digests: '0'.repeat(2_048) }),
    answer: okSealable('The devices.', differingBindings, {
      bindings: [
        {
          deviceId: deviceExample.deviceId,
          clientName: deviceExample.clientName,
          screenSlug: 'lobby',
          updatedAt: momentExample,
        },
      ],
    }),
  },
  'GET /api/peers/connections': {
    summary: 'List the live connections of this box for several screens',
    query: peerConnectionsQuery,
    answer: okSealable('The connections of this box alone, by screen.', peerConnections, {
      screens: [{ slug: 'lobby', connections: [connectionExample] }],
      unproven: [connectionExample.id],
    }),
    examples: { screens: 'lobby,bar' },
  },
  'GET /api/peers/content': {
    summary: 'Get the newest content that this box has on its disk',
    query: peerContentQuery,
    answer: okSealable('The document.', contentDocument, {
      ...version,
      changedAt: momentExample,
      ancestors: [{ counter: 6, nodeId: nodeExample, sha256: digestExample }],
      operator: 'Maria',
      stamps: [['lobby', { created_at: momentExample, modified_at: momentExample, digest: '9f86d081884c7d65' }]],
      text: '{"screens":[{"name":"Lobby","slug":"lobby"}]}',
    }),
    errors: ['not_found'],
  },
  'POST /api/peers/bindings': {
    summary: 'Send devices that have changed',
    description: 'The newer record of each device is kept.',
    body: sealable(peerBindings, {
      bindings: [
        {
          deviceId: deviceExample.deviceId,
          clientName: deviceExample.clientName,
          screenSlug: null,
          forgotten: true,
          updatedAt: momentExample,
        },
      ],
    }),
    answer: okSealable('They are stored, where they are newer.', z.object({}), {}),
    errors: ['insufficient_storage'],
  },
  'GET /api/peers/devices': {
    summary: 'Check which devices this box has seen or has a record of',
    query: peerDevicesQuery,
    answer: okSealable('Those of the ids that are known.', peerDevices, { known: [deviceExample.deviceId] }),
    examples: { deviceIds: 'H4NP8S2VC6YA5R1T,4K7QM3X9FT2WD0AZ' },
  },
  'POST /api/peers/claims': {
    summary: 'Check claim codes that people have entered at another box',
    body: sealable(peerClaims, { claims: [{ deviceId: deviceExample.deviceId, claim: '4K7QM3X9FT' }] }),
    answer: okSealable('Which of them are right.', peerClaimAnswers, { right: [true] }),
    errors: [],
  },
  'GET /api/peers/media': {
    summary: 'List the media of this box',
    answer: okSealable('All media.', peerMedia, {
      media: [{ name: 'hall.jpg', size: 482113, sha256: digestExample, modifiedAt: momentExample }],
      deleted: [],
      digest: digestExample,
    }),
  },
  'POST /api/peers/deletions': {
    summary: 'Send media that were renamed or deleted',
    description:
      'The newer record of each name is kept. Responds when the files here have their new names, and those that are deleted are removed.',
    body: sealable(peerDeletions, {
      deleted: [
        {
          name: 'hall.jpg',
          deletedAt: momentExample,
          sha256: digestExample,
          renamed: { to: 'great-hall.jpg', modifiedAt: momentExample },
        },
      ],
    }),
    answer: okSealable('They are stored, where they are newer.', z.object({}), {}),
    errors: ['insufficient_storage'],
  },
  'POST /api/peers/shared/differing': {
    acts: true,
    summary: 'Get the shared records of this box in the buckets whose digests differ',
    description: 'Sealed records are in the answer only if it is encrypted.',
    body: sealable(sharedDigests, { digests: { people: '0'.repeat(2_048) } }),
    answer: okSealable('The records, in the order of their sets and ids.', differingRecords, {
      records: [['people', sharedExample]],
      isCut: false,
    }),
  },
  'POST /api/peers/shared': {
    summary: 'Send shared records that have changed',
    description: 'They are merged with those of this box. Sealed records are taken only from an encrypted body.',
    body: sealable(sharedRecords, { records: [['people', sharedExample]] }),
    answer: okSealable('They are stored.', z.object({}), {}),
    errors: ['insufficient_storage'],
  },
  'GET /api/peers/takeovers': {
    summary: 'List the takeovers known to this box, including past ones',
    answer: okSealable('All takeovers.', peerTakeovers, takeovers),
  },
  'POST /api/peers/takeovers': {
    summary: 'Send takeovers that have changed',
    description: 'The newer record of each id is kept.',
    body: sealable(peerTakeovers, takeovers),
    answer: okSealable('They are stored, where they are newer.', z.object({}), {}),
    errors: ['insufficient_storage'],
  },
  'GET /api/peers/alerts': {
    summary: 'List the last message about each subject to receivers of alerts',
    answer: okSealable('The messages.', peerAlerts, alerts),
  },
  'POST /api/peers/alerts': {
    summary: 'Send messages that a receiver was sent, or is about to be',
    description:
      'The newer record of each subject is kept; a box that takes over from the sender repeats what may not have been sent.',
    body: sealable(peerAlerts, alerts),
    answer: okSealable('They are kept, where they are newer.', z.object({}), {}),
  },
} as const satisfies Operations;
