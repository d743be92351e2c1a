/** Operations by which a box shows, operates and asks the others of its site. */
import { z } from 'zod';
import { connectionExample } from '../connections.ts';
import { actionAnswer, peerOrder, peerReset } from '../console/actions.ts';
import { boxLog, boxLogQuery } from '../console/site.ts';
import {
  peerCopy,
  peerCopyRequest,
  peerRenditions,
  peerRenditionsRequest,
  peerScreenshot,
  peerScreenshotQuery,
  peerSite,
  peerTime,
} from '../peers.ts';
import { deviceExample, digestExample, momentExample, nodeExample } from './examples.ts';
import { actionExample, orderExample } from './machine.ts';
import { type Operations, okSealable, sealable } from './operation.ts';

export const peerBoxes = {
  'GET /api/peers/site': {
    summary: 'Get what this box contributes to the overview of the site',
    answer: okSealable('Its displays and connections.', peerSite, {
      name: 'lobby-box',
      warnings: ['ffmpeg is missing, so there are no streams; run: sudo apt install ffmpeg'],
      screens: [{ slug: 'lobby', connections: [connectionExample] }],
      stuck: [],
      faults: [],
      displays: [deviceExample.deviceId],
      off: [],
      names: [],
      volume: 40,
      seen: [{ deviceId: '4K7QM3X9FT2WD0AZ', nodeId: nodeExample, at: momentExample }],
      waiting: [{ deviceId: 'hall-display', nodeId: nodeExample }],
    }),
  },
  'GET /api/peers/log': {
    summary: 'Get the newest lines of the log of this box',
    query: boxLogQuery,
    answer: okSealable('The lines.', boxLog, { lines: [{ level: 30, time: momentExample, msg: 'content is live' }] }),
  },
  'POST /api/peers/restart': {
    summary: 'Restart the player of this box',
    answer: { 202: { description: 'It restarts after the response.', content: sealable(z.object({}), {}) } },
    errors: ['not_supported'],
  },
  'POST /api/peers/actions': {
    summary: 'Act on the machine of this box',
    description: 'Without a secret, what ends the player is refused: it is taken from the box itself alone.',
    body: sealable(peerOrder, { ...orderExample, operator: 'Ada', person: null }),
    answer: okSealable('What became of it.', actionAnswer, actionExample),
    errors: ['local_required', 'update_in_trial'],
  },
  'POST /api/peers/resets': {
    summary: 'Record that another box is reset',
    description: 'It forgets its own audit; those of the others keep the record.',
    body: sealable(peerReset, { name: 'lobby-box', operator: 'Ada', person: { id: 'ada', name: 'Ada' } }),
    answer: okSealable('It is recorded.', z.object({}), {}),
  },
  'POST /api/peers/copy': {
    acts: true,
    summary: 'Ask this box for its copy of a remote medium',
    description: 'Boxes ask before they download a file: one box of a site downloads it for all.',
    body: sealable(peerCopyRequest, { url: 'https://cdn.example.com/film.mp4' }),
    answer: okSealable('What it has.', peerCopy, {
      state: 'here',
      copy: { sha256: digestExample, size: 1_048_576, etag: '"5f3c"', lastModified: null, life: 3_600_000 },
    }),
  },
  'POST /api/peers/renditions': {
    summary: 'Ask this box for the renditions of originals',
    description:
      'The box that took an upload converts it for all; the others fetch the rendition. Originals that this box does not have, or that need none, are left out.',
    body: sealable(peerRenditionsRequest, { originals: [digestExample] }),
    answer: okSealable('What it has.', peerRenditions, {
      renditions: [
        {
          original: digestExample,
          state: 'ready',
          isUpload: true,
          isAble: true,
          reason: null,
          rendition: { profile: 'h264', sha256: digestExample, size: 1_048_576, mediaType: 'video/mp4' },
        },
      ],
    }),
  },
  'GET /api/peers/screenshot': {
    acts: true,
    summary: 'Take a screenshot of a display of this box',
    query: peerScreenshotQuery,
    answer: okSealable('The picture.', peerScreenshot, { jpeg: '/9j/4AAQSkZJRgABAQ==', capturedAt: momentExample }),
    errors: ['connection_not_found', 'screenshot_unavailable', 'screenshot_timeout'],
    examples: { connectionId: connectionExample.id },
  },
} as const satisfies Operations;

export const clock = {
  'GET /api/peers/time': {
    forSecret: true,
    summary: "Get this box's reading of the site's clock",
    description:
      'With a secret it is also the first request to an address: the signed response proves the node id of the box there.',
    answer: okSealable('Two readings.', peerTime, {
      nodeId: nodeExample,
      established: true,
      synchronized: true,
      received: 1769846400000.25,
      sent: 1769846400000.5,
      wall: 1769846400001,
    }),
  },
} as const satisfies Operations;
