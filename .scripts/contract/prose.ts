/** The prose of the API documents. */
import { errorTable } from '../../service/contract/errors.ts';
import type { areas } from '../../service/contract/operations/index.ts';

const tagTexts: Record<keyof typeof areas, string> = {
  Pages: 'The pages for people, and what they load.',
  Screens: 'What a screen shows, who shows it, and the commands to them.',
  Onboarding: 'How a device comes to its screen.',
  Media: 'Uploads, and the address of every medium.',
  Copies: 'Local copies of the remote media that the content names.',
  Frames: 'Whether a web page can be shown in a frame.',
  Streams: 'Live sources as HLS.',
  Editing: 'The content and the media, as the console and the command line edit them.',
  Health: 'How the box is.',
  Clock: 'The time of the site.',
  Peers: 'What boxes of one site ask each other.',
  Updates: 'Releases that a box hands to the other boxes of its site.',
  Site: 'What the console shows of a site, and how it is operated.',
  Triggers: 'Addresses with which other systems start what an operator has chosen before.',
  People: 'People with keys of their own: their roles, how they join, and how they are removed.',
  Secrets: 'What the kiosk sends to pages behind a login, and to no other.',
  Records: 'What happened: who changed what, and what was shown.',
};

export const tags = Object.entries(tagTexts).map(([name, description]) => ({ name, description }));

const errors = Object.entries(errorTable).map(([code, [status, text]]) => `| \`${code}\` | ${status} | ${text} |`);

export const description = `
The interface of a digital-signage player: screens, what they show, who shows it, and the commands that they obey.

**Variants.** The service runs in one of two variants. \`x-variant\` marks the operations, fields, commands and media
types that only one of them has; what is not marked is in both. \`openapi.baseline.yaml\` is this document as the baseline
variant has it: there the extended operations are 404, the extended fields are absent, the extended commands are unknown.

**Sockets.** The messages of the pages' WebSockets are described in \`asyncapi.yaml\`.

**HEAD** works wherever GET does.

**Errors.** Every error under \`/api\` and \`/console/api\` has a code for programs and one sentence for a person; elsewhere it is the sentence,
as plain text. The examples of a response name the codes that an operation can answer with. Where there is nothing at a
path the answer is 404 \`not_found\`, for a browser as a page.

| code | status | default message |
| --- | --- | --- |
${errors.join('\n')}

**Names and origins.** A Host header that is none of the service's names is 421 \`host_refused\`. Its names are IP addresses,
names without a dot, those under a suffix that nobody can register (\`.local\`, \`.localhost\`, \`.lan\`, \`.home\`,
\`.internal\`, \`.home.arpa\`, \`.localdomain\`, \`.corp\`, \`.intranet\`, \`.private\`), the machine's own, alone or in its DNS
search domains, that of the public URL, and the allowed ones, on any port. A target in absolute form counts as its path where
its authority is the Host. An Origin that is not the request's own host is 403 \`origin_refused\` on everything that changes
state, and on sockets.

**Order.** The first that fails answers: size of the head (431), target and Host (400, 421 \`host_refused\`), expectation
(417), path and method (404, 405), Origin (403), credentials: none, form, time, MAC, nonce (401), own Host where there is no
recipient (421 \`host_refused\`), recipient (421 \`misdirected\`), kind of credentials (403), the body (415, 413, 400), the
rest.

**Page tokens.** With a secret every page is served with a token, in the JSON of the
element with the id \`boot\`, as \`pageToken.token\`. The page sends it in \`x-signage-page-auth\`, on sockets as the subprotocol \`token.TOKEN\`, and renews it
at two thirds of its life by \`POST /api/auth/page\`; where that is too late, a page that is fetched anew has the next one.

**Headers of every answer**: \`X-Request-Id\` (not on playlists: it names the request in the log),
\`Content-Security-Policy\`, \`X-Content-Type-Options: nosniff\`, \`Referrer-Policy\` and \`Permissions-Policy\`.

**Signed requests.** \`x-signage-request-timestamp\` is milliseconds since the epoch, 13 digits.
\`x-signage-request-signature\` is \`v1;nonce=N;sha256=B;mac=M\`: N is 16 to 64 of \`A-Z a-z 0-9 - _\`, B the hex SHA-256 of
the body, M the hex HMAC-SHA256, keyed with the secret, of these lines joined by \`\\n\`: \`signage-request-v1\`, timestamp,
N, METHOD, the Host header in lower case, path and query as sent, B. With \`x-signage-recipient\`, the node id that
\`GET /healthz\` tells, four more lines follow: that node id, then the values of \`x-signage-operator\`, \`If-Match\` and
\`If-None-Match\`, each empty where it is absent. Lines are bytes, header values without white space at their ends;
\`x-signage-operator\` travels as UTF-8. Example: secret \`a-secret-of-some-length\`, time 1767225600000, nonce
\`0123456789abcdef\`, GET, Host \`10.0.0.5:8080\`, \`/console/api/site\`, no body, node \`node-1\`, operator \`Zoë\`, If-Match
\`"abc"\`: M is 3548f293c4b122f60f51c8e175b6c2b3783d7eb2544fa52ff1a12b156fc50562.

With a recipient a request is fresh for 30 s either way, and another box answers 421 \`misdirected\`: read \`/healthz\` again
and send it once more. Without one it is fresh for 300 s, and taken only where the Host is the box's own (an address of the
machine with the port that it came to, a name of the machine, the public URL's host, an allowed host on any port), else 421
\`host_refused\`. None is accepted that is older than the process, a nonce is accepted once, and a signed header must not
stand there twice.

The answer to a request whose MAC is right, errors included, carries \`x-signage-answer-signature\`: the hex HMAC-SHA256,
keyed with the same secret, of these lines: \`signage-answer-v1\`, the request's signature header, the status, the hex SHA-256
of the answer's body as sent, which is empty for HEAD, 204 and 304, and the value of \`x-signage-clock\`, the time of the box in
ms since the epoch, by which a caller corrects its own. Answers whose bodies are streamed have none: plays, media, backups. Do not
use another answer without it: a host in between may have sent it, and the request may still be carried out within 30 s.

**People.** A person signs with an Ed25519 key of their own (RFC 8032):
\`v3;key=KEYID;nonce=N;sha256=B;sig=S\`, S in base64url over the lines above, the first being \`signage-request-v3\` and the
key id added as the last. \`x-role\` names the lowest role that an operation needs: viewer, editor, publisher, admin, each with
all of the one before; too low is 403 \`role_required\`, and screens without a tag of the person are 403 \`out_of_scope\`. A key
that was removed is 401 \`key_unknown\`. The key of a viewer or an editor counts as a page token where one is taken. \`secret\`
marks what only the secret opens: 403 \`secret_required\`; on a site without a secret the same code,
with 409, answers what needs one. Answers to people carry no proof: use https.

**Between boxes.** A request with \`x-signage-relay\` is carried out by the box that it reaches and relayed no further; one
with \`x-signage-recipient\` is meant for the box with that node id alone. With a secret such a request is signed as \`v2\`: the
first line is \`signage-request-v2\`, and the recipient's node id is the last. \`x-signage-relay\` and \`x-signage-command-id\`
count in \`v2\` alone, and are 401 in other signed requests. \`v2\` opens \`/api/peers/*\` and, with \`x-signage-relay\`, commands,
snapshots and onboarding, nothing else (403 \`signature_required\`). It is fresh for 3 s for a command, else for 30 s. A box
asks an unknown address for \`GET /api/peers/time\` first, as \`v1\`: the proven answer tells which box is there. Bodies are
\`application/jose\`: compact JWE (RFC 7516), \`dir\` with A256GCM, the key is HKDF-SHA256 of the secret (empty salt, info
\`signage-peer-content-v1\`, 32 bytes), \`kid\` the first 8 hex digits of its SHA-256; B covers the body as sent. They are taken
with \`x-signage-relay\` and \`v2\` alone. Answers are encrypted under \`/api/peers\`, and where the body of the request was.
`.trim();
