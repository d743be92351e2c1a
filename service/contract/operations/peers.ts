/** Operations between the boxes of a site. */
import {
  contentDocument,
  peerBindings,
  peerConnections,
  peerConnectionsQuery,
  peerContentQuery,
  peerDevices,
  peerDevicesQuery,
  peerMedia,
  peerQuery,
  peerState,
} from '../peers.ts';
import { connectionExample, deviceExample, digestExample, momentExample, nodeExample } from './examples.ts';
import { type Operations, ok } from './operation.ts';

const version = { counter: 7, nodeId: nodeExample, sha256: digestExample };

export const peers = {
  'GET /api/peers/state': {
    access: 'signed',
    variant: 'extended',
    acts: true,
    summary: 'Get the state of this box',
    description: 'With `from` and `port` the asked box learns where the asking one listens.',
    query: peerQuery.partial(),
    answer: ok('The state.', peerState, {
      nodeId: nodeExample,
      instance: '0b9d3c1e-5f0f-4a86-9d37-2b1c0a6f1c55',
      site: 'default',
      version: '0.1.0',
      serverTime: 1769846400000,
      peers: [{ nodeId: '6f1c550b-9d3c-4e5f-8f4a-869d372b1c0a', url: 'http://192.168.1.21:8080' }],
      content: version,
      bindings: digestExample,
      media: digestExample,
    }),
    errors: [],
  },
  'GET /api/peers/connections': {
    access: 'signed',
    variant: 'extended',
    summary: 'Get the live connections of this box, of several screens at once',
    query: peerConnectionsQuery,
    answer: ok('The connections of this box alone, by screen.', peerConnections, {
      screens: [{ slug: 'lobby', connections: [connectionExample] }],
    }),
    errors: [],
    examples: { screens: 'lobby,bar' },
  },
  'GET /api/peers/content': {
    access: 'signed',
    variant: 'extended',
    summary: 'Get the newest content that this box has on its disk',
    query: peerContentQuery,
    answer: ok('The document.', contentDocument, {
      ...version,
      changedAt: momentExample,
      ancestors: [{ counter: 6, nodeId: nodeExample }],
      operator: 'Maria',
      stamps: [['lobby', { created_at: momentExample, modified_at: momentExample, digest: '9f86d081884c7d65' }]],
      text: '{"screens":[{"name":"Lobby","slug":"lobby"}]}',
    }),
    errors: ['not_found'],
  },
  'GET /api/peers/bindings': {
    access: 'signed',
    variant: 'extended',
    summary: 'List the devices that this box knows',
    answer: ok('All devices.', peerBindings, {
      bindings: [
        {
          deviceId: deviceExample.deviceId,
          clientName: deviceExample.clientName,
          screenSlug: 'lobby',
          updatedAt: momentExample,
        },
      ],
    }),
    errors: [],
  },
  'GET /api/peers/devices': {
    access: 'signed',
    variant: 'extended',
    summary: 'Get which devices this box has seen or has a record of',
    query: peerDevicesQuery,
    answer: ok('Those of the ids that are known.', peerDevices, { known: [deviceExample.deviceId] }),
    errors: [],
    examples: { deviceIds: 'h4np-8s2v-c6ya,k7qm-3x9f-t2wd' },
  },
  'GET /api/peers/media': {
    access: 'signed',
    variant: 'extended',
    summary: 'List the media that this box has',
    answer: ok('All media.', peerMedia, {
      media: [{ name: 'hall.jpg', size: 482113, sha256: digestExample, modifiedAt: momentExample }],
    }),
    errors: [],
  },
} as const satisfies Operations;
