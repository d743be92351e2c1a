/** A screen's playlist, its connections, and commands to them. */
import { z } from 'zod';
import { commandRequest, commandResult } from '../commands.ts';
import { connectionExample, connectionSnapshot } from '../connections.ts';
import { commandHeaders } from '../peers.ts';
import { playlistPayload, syncHeader, versionHeader, zoneHeader } from '../playlist.ts';
import { slug } from '../terms.ts';
import { playlistExample, screenExample } from './examples.ts';
import { entityTag, json, type Operation, type Operations, okSealable, sealable, unchanged } from './operation.ts';

const params = z.object({ slug });
const examples = { slug: 'lobby' };

const snapshot = {
  access: 'public',
  variant: 'baseline',
  params,
  answer: {
    200: {
      description: 'The snapshot.',
      headers: entityTag,
      content: json(connectionSnapshot, {
        screen: screenExample,
        screenSlug: 'lobby',
        count: 1,
        connections: [connectionExample],
        degraded: false,
      }),
    },
    ...unchanged,
  },
  errors: ['screen_not_found'],
  examples,
} as const satisfies Omit<Operation, 'summary'>;

export const screens = {
  'GET /api/screens/:slug/playlist': {
    access: 'public',
    variant: 'baseline',
    summary: 'Get the playlist of a screen',
    description:
      'Contains all slides regardless of their schedule: the player evaluates it by its clock. The entity tag is the revision.',
    params,
    answer: {
      200: {
        description: 'The playlist payload.',
        headers: {
          ...entityTag,
          [syncHeader]: {
            description: 'Every page of the screen shows the same slide at the same time',
            schema: z.literal('1'),
          },
          [versionHeader]: {
            description:
              'Version of the service, in the extended variant. A page that another version served loads itself anew',
            schema: z.string(),
          },
          [zoneHeader]: {
            description:
              'Time zone of the service, an IANA name, in the extended variant. A page with a different one reloads',
            schema: z.string(),
          },
        },
        content: json(playlistPayload, playlistExample),
      },
      ...unchanged,
    },
    errors: ['screen_not_found'],
    examples,
  },
  'GET /api/screens/:slug/connections': { ...snapshot, summary: 'Get the live player connections of a screen' },
  'GET /api/screens/:slug/clients': {
    ...snapshot,
    summary: 'Get the live player connections of a screen (second name)',
    description: 'Answers exactly as `/api/screens/{slug}/connections` does.',
  },
  'POST /api/screens/:slug/commands': {
    role: 'publisher',
    scope: 'judged',
    variant: 'baseline',
    // Not `url`: the address of a redirect may contain a token.
    audit: {
      action: 'screen.command',
      subject: 'screen',
      id: 'slug',
      fields: ['command', 'blackout', 'clientName', 'deviceId', 'connectionId', 'clientId'],
    },
    summary: 'Send a command to the pages of a screen',
    description:
      'With `connectionId` or `clientId` the command goes to that one connection, else to all connections of the screen, on every box of the site. An absent target is not an error: `sent` is 0.',
    params,
    headers: commandHeaders,
    body: sealable(commandRequest, { command: 'blackout', blackout: true }),
    answer: okSealable('What was sent.', commandResult, {
      screen: screenExample,
      screenSlug: 'lobby',
      command: 'blackout',
      connectionId: null,
      sent: 2,
      degraded: false,
    }),
    errors: ['screen_not_found', 'unknown_command', 'insufficient_storage'],
    examples,
  },
} as const satisfies Operations;
