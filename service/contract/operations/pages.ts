/** The pages for people, what they load, and whether other pages can be shown in frames. */
import { z } from 'zod';
import { frameQuery, frameVerdict } from '../frames.ts';
import { deviceQuery } from '../onboarding.ts';
import { pageToken, previewQuery } from '../page.ts';
import { slug } from '../terms.ts';
import { momentExample } from './examples.ts';
import { entityTag, file, type Operations, ok } from './operation.ts';

const html = { 'text/html': { schema: z.string(), example: '<!doctype html><html lang="en">...</html>' } } as const;

export const pages = {
  'GET /': {
    access: 'public',
    variant: 'baseline',
    summary: 'Get the landing page',
    description:
      'Extended: an HTML page with the QR code that leads a phone to the onboarding form. Baseline: plain text that lists the screens.',
    answer: {
      200: {
        description: 'The landing page.',
        content: {
          'text/html': { ...html['text/html'], variant: 'extended' },
          'text/plain': {
            schema: z.string(),
            example: 'Signage player. Screens:\n  /screen/lobby  Lobby\n',
            variant: 'baseline',
          },
        },
      },
    },
  },
  'GET /onboard': {
    access: 'public',
    summary: 'Get the onboarding form',
    query: deviceQuery.partial(),
    answer: { 200: { description: 'The form.', content: html } },
  },
  'GET /screen/:slug': {
    access: 'public',
    variant: 'baseline',
    summary: 'Get the player page of a screen',
    params: z.object({ slug }),
    answer: {
      200: { description: 'The player page.', content: html },
      404: { description: 'A page that waits for a screen with this slug.', content: html },
    },
    examples: { slug: 'lobby' },
  },
  'GET /console': {
    access: 'public',
    summary: 'Get the console',
    description: 'The page that operates a site. It contains no data, and signs its requests to `/console/api`.',
    answer: { 200: { description: 'The page.', content: html } },
  },
  'GET /console/preview': {
    access: 'public',
    summary: 'Get the player that shows unpublished content in a frame of the console',
    query: previewQuery,
    answer: { 200: { description: 'The page. Only pages of this service may frame it.', content: html } },
    errors: ['invalid_field'],
  },
  'GET /api/docs': {
    access: 'public',
    summary: 'Show this document',
    description: 'A page that sends nothing, and loads nothing from other hosts.',
    answer: { 200: { description: 'The page.', content: html } },
  },
  'GET /assets/*path': {
    access: 'public',
    variant: 'baseline',
    summary: 'Get a script, a style sheet, a font or a picture of the pages',
    params: z.object({ path: z.string().describe('Path of the file, with slashes.') }),
    answer: {
      ...file('The file.'),
      206: { ...file('A range of the file.')[200], headers: entityTag },
      304: { description: 'The file is the one that If-None-Match or If-Modified-Since names.' },
    },
    errors: ['not_found', 'precondition_failed', 'range_not_satisfiable'],
    examples: { path: 'player.js' },
  },
  'POST /api/auth/page': {
    role: 'viewer',
    access: 'page',
    summary: "Renew a page's token",
    description: 'Without a secret all three fields are null, because pages need no token.',
    answer: ok('The next token.', pageToken, {
      token: 'eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJzaWduYWdlLXBhZ2UifQ.c2lnbmF0dXJl',
      issuedAt: momentExample,
      expiresAt: '2026-01-31T08:15:00.000Z',
    }),
    body: { 'application/json': { schema: z.object({}), example: {} } },
  },
} as const satisfies Operations;

export const frames = {
  'GET /api/frames': {
    role: 'viewer',
    access: 'signed or page',
    acts: true,
    summary: 'Check whether a page can be shown in a frame',
    description:
      'Evaluates the headers of the page’s response like a browser. A page that does not respond counts as framable.',
    query: frameQuery,
    answer: ok('The verdict.', frameVerdict, {
      url: 'https://example.com/board',
      framable: false,
      reason: 'it forbids frames by its content security policy (frame-ancestors)',
    }),
    examples: { url: 'https://example.com/board', origin: 'http://192.168.1.20:8080' },
  },
} as const satisfies Operations;
