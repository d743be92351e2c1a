/** The WebSockets of the pages. */
import { z } from 'zod';
import { connectionExample } from '../connections.ts';
import { deviceQuery, openedMessage, statusMessage } from '../onboarding.ts';
import { ackMessage, playsMessage } from '../plays.ts';
import {
  clockMessage,
  commandMessage,
  faultMessage,
  glyphsMessage,
  heartbeatMessage,
  helloMessage,
  identifiedMessage,
  identifyMessage,
  mediaMessage,
  revisionMessage,
  showMessage,
  siteTimeMessage,
  skewMessage,
  stateMessage,
  swapMessage,
  timeMessage,
  videoMessage,
  welcomeMessage,
} from '../socket.ts';
import { slug } from '../terms.ts';
import { deviceExample, playExample, playlistExample } from './examples.ts';
import type { SocketOperation } from './operation.ts';

const { revision } = playlistExample;
const { clientId, deviceId, clientName, page, viewport, currentSlideTitle } = connectionExample;

const life =
  'The subprotocol is `signage.v1`; where a secret is set, the page token is sent as a second subprotocol, `token.TOKEN`, or the upgrade request is signed. The service pings every 15 s and drops a connection that has been silent for 40 s.';

export const sockets = {
  '/api/screens/:slug/socket': {
    role: 'viewer',
    access: 'signed or page',
    variant: 'baseline',
    summary: 'The socket of a player page',
    description: `${life} Messages are JSON objects. The page sends \`hello\` within 5 s, before anything else. An invalid message closes the socket with 1008, as do more than 200 messages in 10 s. Texts longer than 500 characters (\`page\`: 4,096) are truncated; a message over 256 KiB closes the socket with 1009.`,
    params: z.object({ slug }),
    receives: [
      { schema: helloMessage, example: { type: 'hello', clientId, deviceId, clientName, page, viewport } },
      {
        schema: stateMessage,
        example: {
          type: 'state',
          page,
          currentSlide: 0,
          currentSlideId: 'welcome-1',
          currentSlideTitle,
          paused: false,
        },
      },
      {
        schema: faultMessage,
        example: { type: 'fault', slideId: 'welcome-1', reason: 'the picture could not be decoded' },
      },
      { schema: clockMessage, example: { type: 'clock', state: 'ok', stepMs: 0 } },
      { schema: swapMessage, example: { type: 'swap', slideId: 'welcome-1', gapMs: 0 } },
      { schema: timeMessage, example: { type: 'time', t0: 1769846400000 } },
      { schema: skewMessage, example: { type: 'skew', swaps: [3.1, -0.4], videos: [] } },
      { schema: glyphsMessage, example: { type: 'glyphs', slideId: 'welcome-1', characters: '漢字' } },
      { schema: identifiedMessage, example: { type: 'identified' } },
      { schema: videoMessage, example: { type: 'video', slideId: 'welcome-1', decoded: 250, dropped: 2 } },
      { schema: playsMessage, example: { type: 'plays', plays: [playExample] } },
    ],
    sends: [
      {
        schema: welcomeMessage,
        example: {
          type: 'welcome',
          connectionId: connectionExample.id,
          clientName,
          revision,
          serverTime: 1769846400000,
          nodeId: '2f1c7a90-5b7e-4d6c-9a53-0f5a2b8f6d11',
          proven: true,
        },
      },
      { schema: commandMessage, example: { type: 'command', command: 'blackout', blackout: true } },
      { schema: revisionMessage, example: { type: 'revision', revision } },
      { schema: heartbeatMessage, example: { type: 'heartbeat', revision } },
      { schema: showMessage, example: { type: 'show', slideId: 'welcome-1' } },
      { schema: mediaMessage, example: { type: 'media' } },
      {
        schema: identifyMessage,
        example: { type: 'identify', name: 'lobby-box', address: 'http://192.168.1.20:8080', number: 1, seconds: 15 },
      },
      {
        schema: siteTimeMessage,
        example: { type: 'time', t0: 1769846400000, t1: 1769846400003.2, t2: 1769846400003.4, followed: true },
      },
      { schema: ackMessage, example: { type: 'ack', play_ids: [playExample.play_id] } },
    ],
    errors: ['screen_not_found'],
  },
  '/api/onboarding/socket': {
    role: 'viewer',
    access: 'signed or page',
    summary: 'The socket of a landing page',
    description: `${life} The page sends nothing.`,
    query: deviceQuery,
    receives: [],
    sends: [
      {
        schema: statusMessage,
        example: {
          type: 'status',
          ...deviceExample,
          onboarded: true,
          formUrl: 'http://192.168.1.20:8080/onboard',
          hasScreens: true,
          media: { here: 3, there: 9 },
        },
      },
      { schema: openedMessage, example: { type: 'opened' } },
    ],
  },
} as const satisfies Readonly<Record<string, SocketOperation>>;
