/** Requests to a box: signed, with time limits; errors become exit codes. */
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { readClock, sha256Hex, signAnswer, signRequest } from '../auth/sign.ts';
import { operatorHeader } from '../contract/headers.ts';
import { answerHeader, clockHeader, signatureHeader } from '../domain/request-signature.ts';
import { CliError, refusalOf, secretAdvice } from './exit.ts';

/** A body that is sent as a stream. */
export interface Upload {
  size: number;
  /** SHA-256, lower-case hex. */
  sha256: string;
  /** Called for each attempt. */
  open: () => Readable;
}

export interface BoxRequest {
  /** Default: GET. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** JSON text. */
  body?: string;
  upload?: Upload;
  /** Most until the whole answer, ms; default: none, as long as something arrives. */
  timeoutMs?: number;
  /** An error status that is an answer, not an error. */
  mayBe?: number;
}

/** An answer with a status below 400, or the one that the request allows for. */
export interface Answer<Body> {
  status: number;
  headers: IncomingMessage['headers'];
  body: Body;
}

export interface Client {
  /** The base URL of the box. */
  base: URL;
  /**
   * Sends a request and reads the JSON of the answer; `undefined` where the answer has no body.
   * @throws CliError for every error status, and if no box answers
   */
  ask<Body>(request: BoxRequest): Promise<Answer<Body>>;
  /** The same, for a body that is read as it arrives. It is not signed. */
  open(request: BoxRequest): Promise<Answer<IncomingMessage>>;
  /** The clock of the box, as its last answer shows it to the second (RFC 9110, 6.6.1); ms since the epoch. */
  now(): number;
}

interface Options {
  base: URL;
  /** Null: requests are not signed. */
  secret: string | null;
  /** Name for the audit; null: none. */
  operator: string | null;
  /**
   * Whether every answer must prove that the box knows the secret, as it must if the address of the box came from an
   * untrusted source.
   */
  needsProof: boolean;
  /** Called once if a box does not prove that it knows the secret, and need not. */
  onUnproven: () => void;
  /** Wall clock, ms since the epoch. */
  now: () => number;
  signal?: AbortSignal;
}

/** A box in the LAN that does not answer a connection within this time is away. */
const CONNECT_MS = 5_000;
/** Longest silence on a connection. A large document takes some seconds to check. */
const SILENCE_MS = 30_000;
/** Clocks that differ by less are taken for the same: answers show whole seconds, and take their time. */
const CLOCK_TOLERANCE_MS = 3_000;
/** Largest answer that is held in memory, bytes: a list of what a large site plays. */
const MAX_BYTES = 32 * 1024 ** 2;

const isItOn = 'Is it on, and in this network? See: signage discover';
const byAddress = 'Use its IP address. See: signage discover';

/** Why a box was not reached, and what to do. */
const reasons: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
  ECONNREFUSED: ['nothing listens there', 'Does the player run, and on this port? See: signage discover'],
  ECONNRESET: ['it closed the connection', 'It may be starting again: try once more in a moment.'],
  EPIPE: ['it closed the connection', 'It may be starting again: try once more in a moment.'],
  EHOSTUNREACH: ['there is no way to it', isItOn],
  ENETUNREACH: ['there is no way to it', isItOn],
  ENOTFOUND: ['its name is not known', byAddress],
  EAI_AGAIN: ['its name is not known', byAddress],
  ETIMEDOUT: ['it does not answer', isItOn],
};

const unreachable = (base: URL, error: NodeJS.ErrnoException): CliError => {
  if (error instanceof CliError) return error;
  const [reason, advice] = reasons[error.code ?? ''] ?? [error.message, isItOn];
  return new CliError('unreachable', `The box at ${base.origin} was not reached: ${reason}.\n${advice}`);
};

const notABox = (base: URL): CliError =>
  new CliError('unreachable', `What answers at ${base.origin} is not a signage box.`);

/** The whole body. @throws CliError `unreachable` if the connection closes before its end */
export const readAll = async (base: URL, response: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BYTES) throw notABox(base);
      chunks.push(chunk);
    }
  } catch (error) {
    throw unreachable(base, error as NodeJS.ErrnoException);
  }
  return Buffer.concat(chunks);
};

const macOf = (request: ClientRequest): string => String(request.getHeader(signatureHeader)).slice(-64);

/** Header values are bytes to Node; names of people are UTF-8. */
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

export const createClient = ({ base, secret, operator, needsProof, onUnproven, now, signal }: Options): Client => {
  /** How far the clock of the box is ahead, ms: as it proves where a signature was stale, and as its answers show it. */
  let signingOffset = 0;
  let shownOffset = 0;
  let isWarned = false;

  const start = (request: BoxRequest): Promise<{ sent: ClientRequest; response: IncomingMessage }> =>
    new Promise((resolve, reject) => {
      const { method = 'GET', path, headers = {}, body, upload } = request;
      const url = new URL(path, base);
      const hash = upload === undefined ? sha256Hex(body ?? '') : upload.sha256;
      const credentials =
        secret === null ? {} : signRequest({ secret, method, url, bodySha256: hash, now: now() + signingOffset });
      const length = upload?.size ?? (body === undefined ? null : Buffer.byteLength(body));
      const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
        method,
        agent: false,
        ...(signal !== undefined && { signal }),
        headers: {
          Host: url.host,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(length !== null && { 'Content-Length': length }),
          ...(operator !== null && { [operatorHeader]: utf8(operator) }),
          ...headers,
          ...credentials,
        },
      });
      let isAnswered = false;
      const connecting = setTimeout(() => sent.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })), CONNECT_MS);
      sent.on('socket', (socket) => {
        const isSecure = url.protocol === 'https:';
        socket.once(isSecure ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
      });
      sent.setTimeout(SILENCE_MS, () => sent.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })));
      sent.on('close', () => clearTimeout(connecting));
      if (request.timeoutMs !== undefined) {
        const late = () => sent.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' }));
        const deadline = setTimeout(late, request.timeoutMs);
        sent.on('close', () => clearTimeout(deadline));
      }
      sent.on('error', (error) => {
        // A box that refuses an upload may answer before it has read all of it.
        if (!isAnswered) reject(unreachable(base, error));
      });
      sent.on('response', (response) => {
        isAnswered = true;
        resolve({ sent, response });
      });
      if (upload === undefined) {
        // As bytes: Node would encode the head like a text that follows.
        sent.end(body === undefined ? undefined : Buffer.from(body));
        return;
      }
      const bytes = upload.open();
      bytes.on('error', (error) => {
        reject(new CliError('usage', `The file cannot be read: ${error.message}.`));
        sent.destroy();
      });
      sent.on('close', () => bytes.destroy());
      bytes.pipe(sent);
    });

  /** @throws CliError for an error status */
  const send = async (request: BoxRequest, mayRetry = true): ReturnType<typeof start> => {
    const { sent, response } = await start(request);
    const { statusCode = 0, headers } = response;
    const ahead = Date.parse(headers.date ?? '') - now();
    if (Math.abs(ahead) > CLOCK_TOLERANCE_MS) shownOffset = ahead;
    if (statusCode < 400 || statusCode === request.mayBe) return { sent, response };
    const bytes = await readAll(base, response);
    sent.destroy();
    const boxTime = secret === null ? null : readClock(secret, macOf(sent), headers[clockHeader]);
    if (boxTime !== null && mayRetry) {
      signingOffset = boxTime - now();
      return send(request, false);
    }
    throw refusalOf({
      base,
      path: request.path,
      status: statusCode,
      text: bytes.toString(),
      hasSecret: secret !== null,
    });
  };

  const checkProof = (sent: ClientRequest, { statusCode = 0, headers }: IncomingMessage, bytes: Buffer): void => {
    if (secret === null) return;
    const asked = { request: String(sent.getHeader(signatureHeader)), status: statusCode, sha256: sha256Hex(bytes) };
    const proof = headers[answerHeader];
    if (proof === signAnswer(secret, asked)) return;
    if (needsProof || proof !== undefined) {
      const message = `The box at ${base.origin} answers without knowing the secret.`;
      throw new CliError('notAuthorised', `${message}\n${secretAdvice}`);
    }
    if (!isWarned) onUnproven();
    isWarned = true;
  };

  return {
    base,
    ask: async <Body>(request: BoxRequest) => {
      const { sent, response } = await send(request);
      const bytes = await readAll(base, response);
      checkProof(sent, response, bytes);
      const { statusCode: status = 0, headers } = response;
      if (bytes.length === 0) return { status, headers, body: undefined as Body };
      try {
        return { status, headers, body: JSON.parse(bytes.toString()) as Body };
      } catch {
        throw notABox(base);
      }
    },
    open: async (request) => {
      const { response } = await send(request);
      const { statusCode: status = 0, headers } = response;
      return { status, headers, body: response };
    },
    now: () => now() + shownOffset,
  };
};
