/**
 * Writes `resources/openapi.yaml` from the schemas that parse and answer; with `--check` it only says whether the file
 * is what they make.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import packageJson from '../package.json' with { type: 'json' };
import { type Access, policy, type RouteName } from '../service/auth/policy.ts';
import { commandRequest, commandResult } from '../service/wire/commands.ts';
import { connectionSnapshot } from '../service/wire/connections.ts';
import { errorBody } from '../service/wire/errors.ts';
import { frameQuery, frameVerdict } from '../service/wire/frames.ts';
import { health } from '../service/wire/health.ts';
import { copyQuery, mediaConfig, uploadResult } from '../service/wire/media.ts';
import {
  binding,
  deviceHeader,
  deviceKnownHeader,
  deviceQuery,
  onboardingResult,
  onboardingScreens,
  onboardingStatus,
} from '../service/wire/onboarding.ts';
import { pageToken } from '../service/wire/page.ts';
import {
  contentDocument,
  peerBindings,
  peerConnections,
  peerConnectionsQuery,
  peerDevices,
  peerDevicesQuery,
  peerMedia,
  peerQuery,
  peerState,
  peerTime,
} from '../service/wire/peers.ts';
import { playlistPayload } from '../service/wire/playlist.ts';
import {
  clockMessage,
  faultMessage,
  helloMessage,
  skewMessage,
  stateMessage,
  swapMessage,
  timeMessage,
} from '../service/wire/socket.ts';
import { rtmpQuery, rtmpSession } from '../service/wire/streams.ts';
import { deviceId, slug } from '../service/wire/terms.ts';

const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } });
const answer = (description: string, schema: z.ZodType) => ({ 200: { description, ...json(schema) } });
const text = (description: string, type: string) => ({
  200: { description, content: { [type]: { schema: z.string() } } },
});
const binary = (type: string) => ({ content: { [type]: { schema: z.string().meta({ format: 'binary' }) } } });
const bytes = (description: string, type = 'application/octet-stream') => ({
  200: { description, ...binary(type) },
});
const entityTag = { ETag: { description: 'RFC 9110 entity tag', schema: { type: 'string' } } } as const;
const unchanged = { 304: { description: 'It is what If-None-Match names', headers: entityTag } };
/** A file that is served as RFC 9110 has it. */
const medium = (description: string) => ({
  200: { description, headers: entityTag, ...binary('*/*') },
  206: { description: 'The range that was asked for', headers: entityTag, ...binary('*/*') },
  ...unchanged,
});

interface Operation extends ZodOpenApiOperationObject {
  /** The statuses of its errors, beyond 400, 421 and 500, which any request can meet, and those of its access class. */
  errors?: number[];
}

const bySlug = { path: z.object({ slug }) };
const byName = { path: z.object({ filename: z.string().describe('one path segment, percent-encoded') }) };
const byKey = z.object({ key: z.string().describe('of the session') });

/** What each route is, takes and answers. Where it stands and who may call it is the policy's affair. */
const operations: Record<RouteName, Operation> = {
  'GET /': {
    summary:
      'The landing page: the QR code that brings a phone to the onboarding form (baseline: a line of plain text)',
    responses: {
      200: {
        description: 'HTML; plain text in the baseline variant',
        content: { 'text/html': { schema: z.string() }, 'text/plain': { schema: z.string() } },
      },
    },
  },
  'GET /onboard': {
    summary: 'The onboarding form',
    requestParams: { query: deviceQuery.partial() },
    responses: text('HTML', 'text/html'),
  },
  'GET /screen/:slug': {
    summary: 'The player page. That of an unknown screen waits until there is one',
    requestParams: bySlug,
    responses: { ...text('HTML', 'text/html'), 404: { description: 'HTML: a page that waits for the screen' } },
  },
  'GET /assets/*path': {
    summary: 'What the pages load',
    requestParams: { path: z.object({ path: z.string() }) },
    responses: bytes('The file'),
    errors: [404],
  },
  'GET /media/:filename': {
    summary: 'A file of the upload directory, else of the media directory; with ranges and validators (RFC 9110)',
    requestParams: byName,
    responses: medium('The file, under its own media type where its name and its first bytes agree'),
    errors: [404, 412, 416],
  },
  'GET /updates/:filename': {
    summary: 'A signed release that this box has fetched, for the other boxes: metadata, signature and installer',
    requestParams: byName,
    responses: bytes('The file'),
    errors: [404],
  },
  'GET /copies': {
    summary: 'The copy of a remote medium that the content names; with ranges and validators (RFC 9110)',
    requestParams: { query: copyQuery },
    responses: {
      ...medium('The copy, under the media type that its bytes have'),
      302: { description: 'There is no copy yet: the address itself' },
    },
    errors: [403, 404, 412, 416],
  },
  'GET /healthz': { summary: 'How the service is', responses: answer('It answers, whatever is amiss', health) },
  'GET /api/screens/:slug/playlist': {
    summary:
      'Everything that the screen shows. The entity tag is the revision; the header x-signage-sync says that every screen shows it at the same time',
    requestParams: bySlug,
    responses: {
      200: { description: 'The playlist payload', headers: entityTag, ...json(playlistPayload) },
      ...unchanged,
    },
    errors: [404],
  },
  'GET /api/screens/:slug/connections': {
    summary: 'The live connections of the screen',
    requestParams: bySlug,
    responses: answer('The snapshot', connectionSnapshot),
    errors: [404],
  },
  'GET /api/screens/:slug/clients': {
    summary: 'The same as connections',
    requestParams: bySlug,
    responses: answer('The snapshot', connectionSnapshot),
    errors: [404],
  },
  'POST /api/screens/:slug/commands': {
    summary: 'Sends a command to one connection of the screen, or to all',
    requestParams: bySlug,
    requestBody: { required: true, ...json(commandRequest) },
    responses: answer('What was sent', commandResult),
    errors: [404, 408, 413, 415, 507],
  },
  'GET /api/onboarding/status': {
    summary: 'What a device is bound to. A page of the device names itself in x-signage-device',
    requestParams: { query: deviceQuery, header: z.object({ [deviceHeader]: deviceId.optional() }) },
    responses: {
      200: {
        description: 'The persisted status; an unknown device is one that is not onboarded',
        headers: {
          [deviceKnownHeader]: {
            description: 'Whether a box of the site has seen a page of the device, or has a record of it',
            schema: { type: 'string', enum: ['true', 'false'] },
          },
        },
        ...json(onboardingStatus),
      },
    },
  },
  'GET /api/onboarding/screens': {
    summary: 'The screens that a device can be bound to',
    responses: answer('All screens', onboardingScreens),
  },
  'GET /api/onboarding/qr': {
    summary: 'The QR code of the onboarding form for a device',
    requestParams: { query: deviceQuery },
    responses: text('SVG', 'image/svg+xml'),
  },
  'POST /api/onboarding': {
    summary: 'Binds a device to a screen and a name, in place of its binding before; durable once it is answered',
    requestBody: { required: true, ...json(binding) },
    responses: answer('The binding', onboardingResult),
    errors: [404, 408, 413, 415, 507],
  },
  'POST /api/auth/page': {
    summary: 'Renews the token of a page',
    responses: answer('The next token; nulls where no secret is set', pageToken),
    errors: [408, 413, 415],
  },
  'GET /api/media/config': { summary: 'Where media are kept', responses: answer('The folders', mediaConfig) },
  'PUT /api/media/:filename': {
    summary: 'Writes a file, whole or not at all',
    requestParams: byName,
    requestBody: {
      required: true,
      content: { 'application/octet-stream': { schema: z.string().meta({ format: 'binary' }) } },
    },
    responses: { 201: { description: 'It is on the disk for good', ...json(uploadResult) } },
    errors: [408, 413, 507],
  },
  'DELETE /api/media/:filename': {
    summary: 'Deletes an uploaded file',
    requestParams: byName,
    responses: { 204: { description: 'It is gone' } },
    errors: [404],
  },
  'GET /api/frames': {
    summary: 'Whether a page of somebody else lets itself be shown in a frame, by the headers of its answer',
    requestParams: { query: frameQuery },
    responses: answer('What browsers would do; a page that does not answer is not judged', frameVerdict),
  },
  'GET /api/rtmp/session': {
    summary: 'Makes or re-uses the HLS session of a live source; answers at once',
    requestParams: { query: rtmpQuery },
    responses: answer('The session', rtmpSession),
    errors: [429, 503],
  },
  'GET /api/rtmp/streams/:key/index.m3u8': {
    summary: 'The manifest of a session (RFC 8216)',
    requestParams: { path: byKey },
    responses: text('HLS', 'application/vnd.apple.mpegurl'),
    errors: [404],
  },
  'GET /api/rtmp/streams/:key/:fileName': {
    summary: 'A segment of a session',
    requestParams: { path: byKey.extend({ fileName: z.string() }) },
    responses: bytes('The segment', 'video/mp2t'),
    errors: [404],
  },
  'GET /api/peers/time': {
    summary: "This box's reading of the site's clock, for a peer to set its own by",
    responses: answer('Two readings', peerTime),
  },
  'GET /api/peers/state': {
    summary: 'What this box tells its peers of itself',
    requestParams: { query: peerQuery.partial() },
    responses: answer('Its state now', peerState),
  },
  'GET /api/peers/connections': {
    summary: 'The live connections of this box, of several screens at once',
    requestParams: { query: peerConnectionsQuery },
    responses: answer('The connections of this box alone, by screen', peerConnections),
    errors: [400],
  },
  'GET /api/peers/content': {
    summary: 'The newest content that this box has, and would still have after a power cut',
    responses: answer('The document', contentDocument),
    errors: [404],
  },
  'GET /api/peers/bindings': { summary: 'The devices that this box knows', responses: answer('All', peerBindings) },
  'GET /api/peers/devices': {
    summary: 'Which devices this box has seen, or has a record of',
    requestParams: { query: peerDevicesQuery },
    responses: answer('Those of the ids that are known', peerDevices),
  },
  'GET /api/peers/media': { summary: 'The media that this box has', responses: answer('All', peerMedia) },
};

const signed = { 'request-timestamp': [], 'request-signature': [] };
const page = { 'page-token': [] };
const classes: Record<Access, { security: Record<string, string[]>[]; errors: number[]; text: string }> = {
  public: { security: [], errors: [], text: 'Public.' },
  signed: { security: [signed], errors: [401, 403, 429], text: 'With a secret: a signed request.' },
  'signed or page': {
    security: [signed, page],
    errors: [401, 403, 429],
    text: 'With a secret: a signed request or a page token.',
  },
  page: { security: [page], errors: [401, 403, 429], text: 'With a secret: a page token.' },
};

const description = `
A digital-signage player: screens, what they show, who shows it, and the commands that they obey.

**Variants.** The \`baseline\` variant lacks the routes marked extended, and of the shapes below the extended fields.

**Errors.** Every error under \`/api\` is an Error with a code for programs and one sentence for a person. A Host header
that is not the service's own is 421, an Origin that is not its own is 403 on whatever changes state and on sockets.

**The socket of a player page** is a WebSocket at \`/api/screens/{slug}/socket\`, subprotocol \`signage.v1\`; where a
secret is set the page token rides as a second subprotocol, \`token.TOKEN\`. Messages are JSON objects with a \`type\`.
The page says \`hello\` first, within 5 s, then \`state\` on every change, \`fault\` for what it could not show,
\`clock\` where it goes by another clock or was set, and \`swap\` for every change of slides (schemas Hello, State, Fault,
Clock, Swap). The service says \`welcome\` (\`connectionId\`, \`clientName\`, \`revision\`,
\`serverTime\` in ms since the epoch), \`command\` (\`command\` and its arguments), \`revision\` (\`revision\`: fetch the
playlist where it differs) and, with each ping, \`heartbeat\` (\`revision\`, likewise). The service pings every 15 s; a
connection silent for 40 s leaves the snapshot, and a page that receives nothing for 40 s should connect again. A message
that is not valid closes the socket with 1008.

**The socket of a landing page** is a WebSocket at \`/api/onboarding/socket?deviceId=…\`, with the same subprotocols and
heartbeat. The page says nothing. The service says \`status\` (the fields of OnboardingStatus, and \`formUrl\`, the address
of the onboarding form as another machine reaches it, or null) on connecting and on every change, and \`opened\` when the
form for this device was opened.

**Signed requests.** \`x-signage-request-timestamp\` is milliseconds since the epoch, 13 digits.
\`x-signage-request-signature\` is \`v1;nonce=N;sha256=B;mac=M\`: N is 16 to 64 of \`A-Z a-z 0-9 - _\`, B the hex SHA-256 of
the body, M the hex HMAC-SHA256, keyed with the secret, of these lines joined by \`\\n\`: \`signage-request-v1\`, timestamp,
N, METHOD, the Host header in lower case, path and query as sent, B. Fresh means within 300 s either way and not older
than the process; who signs by another clock gets 401 \`signature_stale\` with \`x-signage-clock\`: the service's time in
ms since the epoch, \`;mac=\`, and the hex HMAC-SHA256, keyed likewise, of \`signage-clock-v1\`, M and that time, joined by
\`\\n\`. A nonce is accepted once. The answer carries \`x-signage-answer-signature\`: the hex HMAC-SHA256, keyed with
the same secret, of these lines: \`signage-answer-v1\`, the request's signature header, the status, the hex SHA-256 of the
answer's body. Answers whose bodies are streamed have none.

**Between boxes.** A request with \`x-signage-relay\` is carried out by the box that it reaches and relayed no further; one
with \`x-signage-peer\` is meant for the box of that node id alone (421 otherwise).
`.trim();

const pathOf = (path: string): string => path.replace(/[:*](\w+)/g, '{$1}');

const retryAfter = { headers: { 'Retry-After': { description: 's', schema: { type: 'integer' } } } } as const;

const paths: ZodOpenApiPathsObject = {};
for (const [name, { errors = [], ...operation }] of Object.entries(operations) as [RouteName, Operation][]) {
  const [method = '', path = ''] = name.split(' ');
  const { access, variant } = policy[name];
  const responses = { ...operation.responses };
  const error = path.startsWith('/api/') ? json(errorBody) : { content: { 'text/plain': { schema: z.string() } } };
  for (const status of [...errors, ...classes[access].errors, 400, 421, 500]) {
    responses[`${status}` as '500'] ??= { description: 'Error', ...(status === 429 && retryAfter), ...error };
  }
  const at = pathOf(path);
  paths[at] = {
    ...paths[at],
    [method.toLowerCase()]: {
      operationId: `${method.toLowerCase()}${path.replace(/\W+(\w)?/g, (_, letter: string | undefined) => letter?.toUpperCase() ?? '')}`,
      ...operation,
      description: `${variant === 'extended' ? 'Extended. ' : ''}${classes[access].text}`,
      security: classes[access].security,
      responses,
    },
  };
}

const document = createDocument({
  openapi: '3.1.0',
  info: {
    title: packageJson.name,
    version: packageJson.version,
    description,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  paths,
  components: {
    schemas: {
      Hello: helloMessage,
      State: stateMessage,
      Fault: faultMessage,
      Clock: clockMessage,
      Swap: swapMessage,
      Time: timeMessage,
      Skew: skewMessage,
    },
    securitySchemes: {
      'page-token': { type: 'apiKey', in: 'header', name: 'x-signage-page-auth' },
      'request-timestamp': { type: 'apiKey', in: 'header', name: 'x-signage-request-timestamp' },
      'request-signature': { type: 'apiKey', in: 'header', name: 'x-signage-request-signature' },
    },
  },
});

const file = join(import.meta.dirname, '..', 'resources', 'openapi.yaml');
const yaml = stringify(document, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false });

if (!process.argv.includes('--check')) writeFileSync(file, yaml);
else if (readFileSync(file, 'utf8') !== yaml) {
  console.error('resources/openapi.yaml is not what the schemas make; run: npm run openapi');
  process.exit(1);
}
