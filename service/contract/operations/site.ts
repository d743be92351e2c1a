/** Operating a site from the console. */
import { z } from 'zod';
import { connectionExample } from '../connections.ts';
import { boxLog, boxLogQuery, capturedAtHeader, siteOverview } from '../console/site.ts';
import { takeover, takeoverId, takeoverRequest } from '../console/takeovers.ts';
import { dueQuery, screenDue } from '../programmes.ts';
import { showRequest, showResult } from '../show.ts';
import { deviceId, instant, slug } from '../terms.ts';
import { deviceExample, digestExample, momentExample, nodeExample, screenExample } from './examples.ts';
import { json, type Operations, ok } from './operation.ts';

const takeoverExample = {
  id: 'lift',
  targets: ['lobby'],
  level: 'warning',
  title: 'The lift is out of order',
  body: 'Please use the stairs.',
  media_url: null,
  from: '2100-01-31T08:00:00.000Z',
  until: '2100-01-31T18:00:00.000Z',
  updatedAt: momentExample,
  shown: 1,
  expected: 1,
};

const lines = [{ level: 30, time: momentExample, screens: 1, msg: 'content is live' }];
const box = z.object({ nodeId: z.string().describe('Id of a box.') });
const boxExamples = { nodeId: nodeExample };

export const site = {
  'GET /console/api/site': {
    role: 'viewer',
    summary: 'Get an overview of the site',
    description: 'Collected from all boxes; concurrent requests share one round.',
    answer: ok('The site.', siteOverview, {
      site: 'default',
      nodeId: nodeExample,
      content: { sha256: digestExample, changedAt: momentExample, status: 'ok' },
      boxes: [
        {
          nodeId: nodeExample,
          name: 'lobby-box',
          url: 'http://192.168.1.20:8080',
          version: '0.1.0',
          status: 'here',
          lastSeenAt: momentExample,
          warnings: [],
        },
      ],
      screens: [
        {
          screen: screenExample,
          tags: ['lobby'],
          devices: [
            {
              deviceId: deviceExample.deviceId,
              clientName: deviceExample.clientName,
              nodeId: nodeExample,
              lastSeenAt: momentExample,
              state: 'playing',
            },
          ],
          connections: [connectionExample],
        },
      ],
      waiting: [{ deviceId: 'hall-display', nodeId: nodeExample }],
      takeovers: [takeoverExample],
      degraded: false,
    }),
  },
  'GET /console/api/screens/:slug/programme': {
    role: 'viewer',
    summary: 'Get what a screen plays at a moment, and why',
    params: z.object({ slug }),
    query: dueQuery,
    answer: ok('What is due.', screenDue, {
      at: momentExample,
      playlist_id: 'lunch',
      programme_id: 'lunch-on-weekdays',
      reason: 'only',
      slides: ['soup', 'pasta'],
      next: { at: '2100-01-31T18:00:00.000Z', playlist_id: 'evening' },
    }),
    errors: ['invalid_field', 'screen_not_found'],
    examples: { slug: 'lobby' },
  },
  'POST /console/api/screens/:slug/show': {
    role: 'publisher',
    scope: 'judged',
    audit: { action: 'screen.show', subject: 'screen', id: 'slug', fields: ['slide_id'] },
    summary: 'Show a slide now',
    description:
      'Every page of the screen, on all boxes, is sent the message `show` and goes to the slide; synchronized pages go there together.',
    params: z.object({ slug }),
    body: json(showRequest, { slide_id: 'welcome-1' }),
    answer: ok('On how many pages.', showResult, { sent: 2, degraded: false }),
    errors: ['screen_not_found', 'slide_not_found'],
    examples: { slug: 'lobby' },
  },
  'PUT /console/api/takeovers/:id': {
    role: 'publisher',
    scope: 'judged',
    audit: { action: 'takeover.start', subject: 'takeover', id: 'id' },
    summary: 'Start a takeover, or replace one',
    description:
      'Its slide `takeover-{id}` leads the playlist of each targeted screen, on all boxes, and is shown alone from `from` to `until`.',
    params: z.object({ id: takeoverId }),
    body: json(takeoverRequest, {
      targets: takeoverExample.targets,
      level: 'warning',
      title: takeoverExample.title,
      body: takeoverExample.body,
      from: takeoverExample.from,
      until: takeoverExample.until,
    }),
    answer: {
      201: { description: 'The takeover.', content: json(takeover, takeoverExample) },
      200: { description: 'The takeover, which replaced an earlier one.', content: json(takeover, takeoverExample) },
    },
    errors: ['too_many_takeovers', 'too_many_requests', 'insufficient_storage'],
    examples: { id: 'lift' },
  },
  'DELETE /console/api/takeovers/:id': {
    role: 'publisher',
    scope: 'judged',
    audit: { action: 'takeover.end', subject: 'takeover', id: 'id' },
    summary: 'End a takeover',
    params: z.object({ id: takeoverId }),
    answer: {
      204: { description: 'The takeover is over on all boxes that respond, and on the others when they are back.' },
    },
    errors: ['invalid_field', 'takeover_not_found', 'insufficient_storage'],
    examples: { id: 'lift' },
  },
  'DELETE /console/api/devices/:deviceId': {
    role: 'publisher',
    scope: 'judged',
    audit: { action: 'device.forget', subject: 'device', id: 'deviceId' },
    summary: 'Forget a device',
    description: 'Its binding and name are deleted on all boxes, including those that are away.',
    params: z.object({ deviceId }),
    answer: { 204: { description: 'The device is forgotten.' } },
    errors: ['invalid_field', 'insufficient_storage'],
    examples: { deviceId: deviceExample.deviceId },
  },
  'POST /console/api/boxes/:nodeId/restart': {
    role: 'admin',
    audit: { action: 'box.restart', subject: 'box', id: 'nodeId' },
    summary: 'Restart the player of a box',
    params: box,
    answer: { 202: { description: 'The box restarts after the response.' } },
    errors: ['box_not_found', 'not_supported', 'box_away'],
    examples: boxExamples,
  },
  'GET /console/api/boxes/:nodeId/log': {
    role: 'editor',
    summary: 'Get the newest lines of the log of a box',
    params: box,
    query: boxLogQuery,
    answer: ok('The lines.', boxLog, { lines }),
    errors: ['box_not_found', 'box_away'],
    examples: boxExamples,
  },
  'GET /console/api/connections/:id/screenshot': {
    role: 'viewer',
    acts: true,
    summary: 'Take a screenshot of a kiosk display',
    description: 'The longer side has at most 1280 pixels. At most one screenshot of a display is taken in 5 s.',
    params: z.object({ id: z.string().describe('Id of a connection.') }),
    answer: {
      200: {
        description: 'The picture.',
        headers: {
          [capturedAtHeader]: { description: 'When the screenshot was taken', schema: instant, required: true },
        },
        content: { 'image/jpeg': { schema: z.string().meta({ format: 'binary' }) } },
      },
    },
    errors: ['connection_not_found', 'screenshot_unavailable', 'screenshot_timeout', 'box_away'],
    examples: { id: connectionExample.id },
  },
} as const satisfies Operations;
