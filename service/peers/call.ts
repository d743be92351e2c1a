/**
 * Requests to other boxes over keep-alive connections, with a deadline and a size limit. With a secret, requests are
 * signed and answers must be too, since any host on the LAN can announce itself and peers' answers are trusted. The
 * timestamp of a signature follows the clock of the called box, once it is known, because clocks may differ.
 */
import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { z } from 'zod';
import { readClock, sha256Hex, signAnswer, signRequest } from '../auth/sign.ts';
import { answerHeader, clockHeader, signatureHeader } from '../domain/request-signature.ts';

/** A request to a box. */
export interface PeerRequest<Schema extends z.ZodType> {
  /** Default: GET, or POST with a body. */
  method?: 'GET' | 'POST';
  /** Path and query. */
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Schema of the JSON of a successful answer. */
  schema: Schema;
  /** From the start to the last byte, ms. Default: 1000. */
  deadlineMs?: number;
  /** Limit of the answer's body, bytes. Default: 1 MiB. */
  maxBytes?: number;
}

/** The result of a call. A call never throws, whatever the box answers. */
export type PeerAnswer<T> =
  | {
      ok: true;
      status: number;
      body: T;
      /** The IP address that answered, as the socket reports it. */
      address: string;
    }
  | {
      ok: false;
      /** Null without a complete, authentic answer: the box is away, hangs, closes the connection, or lacks the secret. */
      status: number | null;
      /** Whether the box sent any answer. */
      answered: boolean;
      /** The error code in the answer. */
      code: string | null;
      /** For a person; completes "the box ...". */
      reason: string;
    };

type Failure = Extract<PeerAnswer<unknown>, { ok: false }>;

export interface Caller {
  /** @param base the box's base URL without a trailing slash */
  call<Schema extends z.ZodType>(base: string, request: PeerRequest<Schema>): Promise<PeerAnswer<z.output<Schema>>>;
  /** Closes every connection; calls in progress fail. */
  close(): void;
}

const DEADLINE_MS = 1_000;
const MAX_BYTES = 1024 ** 2;
/** Connections to one box. */
const MAX_SOCKETS = 16;

const errorBody = z.object({ error: z.object({ code: z.string().max(64) }) });

interface SendOptions extends Required<Pick<PeerRequest<z.ZodType>, 'method' | 'headers' | 'maxBytes'>> {
  /** Empty without a body. */
  body: string;
  signal: AbortSignal;
}

interface Reply {
  status: number;
  /** Null if the body exceeds the limit. */
  bytes: Buffer | null;
  address: string;
  signature: string | string[] | undefined;
}

/** The answer is not signed with the secret. */
class ForgedAnswer extends Error {}

const macOf = (request: ClientRequest): string => String(request.getHeader(signatureHeader)).slice(-64);

/** Reads the body; null if it exceeds `maxBytes`. */
const collect = async (response: IncomingMessage, maxBytes: number): Promise<Buffer | null> => {
  const chunks: Buffer[] = [];
  let size = Number(response.headers['content-length'] ?? 0);
  if (size <= maxBytes) {
    size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  }
  if (size <= maxBytes) return Buffer.concat(chunks);
  response.destroy();
  return null;
};

const parseJson = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
};

/** Explanations for the operator of the errors that keep boxes apart. */
const meanings: Readonly<Record<string, string>> = {
  signature_invalid: 'it has another secret',
  signature_stale: 'the clocks of the two differ, and its version is older',
  credentials_required: 'it has a secret, and this one has none',
  host_refused: 'it does not answer to this name: use its address, or add the name to its SIGNAGE_ALLOWED_HOSTS',
};

const parseReply = <Schema extends z.ZodType>(
  { status, bytes, address }: Reply,
  schema: Schema,
): PeerAnswer<z.output<Schema>> => {
  if (bytes === null) return { ok: false, status, answered: true, code: null, reason: 'answers with too large a body' };
  const json = parseJson(bytes);
  if (status < 200 || status > 299) {
    const code = errorBody.safeParse(json).data?.error.code ?? null;
    const meaning = meanings[code ?? ''];
    const reason = ['answers', status, code ?? '', meaning === undefined ? '' : `(${meaning})`].join(' ').trimEnd();
    return { ok: false, status, answered: true, code, reason };
  }
  const { success, data, error } = schema.safeParse(json);
  if (success) return { ok: true, status, body: data, address };
  const path = error.issues[0]?.path.join('.');
  return {
    ok: false,
    status,
    answered: true,
    code: null,
    reason: `answers what was not asked for${path ? ` (${path})` : ''}`,
  };
};

interface Options {
  /** Null: requests and answers are not signed. */
  secret: string | null;
  /** The machine's time of day, ms since the epoch. */
  now?: () => number;
}

export const createCaller = ({ secret, now = Date.now }: Options): Caller => {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  const secureAgent = new SecureAgent({ keepAlive: true, maxSockets: MAX_SOCKETS });

  /** How far the clock of each box is ahead of this one's, ms, by origin. */
  const skews = new Map<string, number>();

  /** Whether the answer is signed with the secret, for this request. */
  const isSigned = (request: ClientRequest, { status, bytes, signature }: Reply): boolean => {
    if (secret === null || bytes === null) return true;
    const asked = { request: String(request.getHeader(signatureHeader)), status, sha256: sha256Hex(bytes) };
    return signature === signAnswer(secret, asked);
  };

  const send = (url: URL, options: SendOptions, mayRetry = true): Promise<Reply> =>
    new Promise<Reply>((resolve, reject) => {
      const { method, body, headers, signal, maxBytes } = options;
      const secure = url.protocol === 'https:';
      const time = now() + (skews.get(url.origin) ?? 0);
      const credentials = secret === null ? {} : signRequest({ secret, method, url, body, now: time });
      const request = (secure ? requestHttps : requestHttp)(url, {
        method,
        agent: secure ? secureAgent : agent,
        signal,
        headers: { ...headers, ...credentials },
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The box may just have closed a reused connection. A POST is not repeated: the box may have carried it out.
        const mayRepeat = mayRetry && method === 'GET' && request.reusedSocket;
        const isStale = mayRepeat && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
        if (isStale) resolve(send(url, options, false));
        else reject(error);
      });
      request.on('response', (response) => {
        const { statusCode: status = 0, headers: replied, socket } = response;
        const { remoteAddress: address = '' } = socket;
        const peerTime = secret === null ? null : readClock(secret, macOf(request), replied[clockHeader]);
        collect(response, maxBytes)
          .then((bytes) => {
            const reply = { status, bytes, address, signature: replied[answerHeader] };
            if (peerTime !== null && mayRetry) {
              skews.set(url.origin, peerTime - now());
              resolve(send(url, options, false));
            } else if (status < 300 && !isSigned(request, reply)) reject(new ForgedAnswer());
            else resolve(reply);
          })
          .catch(reject);
      });
      request.end(body);
    });

  return {
    call: async (base, { path, body, schema, deadlineMs = DEADLINE_MS, maxBytes = MAX_BYTES, ...request }) => {
      const { method = body === undefined ? 'GET' : 'POST', headers = {} } = request;
      const signal = AbortSignal.timeout(deadlineMs);
      const text = body === undefined ? '' : JSON.stringify(body);
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const options = { method, body: text, headers: { ...headers, ...type }, signal, maxBytes };
      try {
        return parseReply(await send(new URL(base + path), options), schema);
      } catch (error) {
        const fail = (reason: string, answered = false): Failure => ({
          ok: false,
          status: null,
          answered,
          code: null,
          reason,
        });
        if (signal.aborted) return fail(`did not answer within ${deadlineMs} ms`);
        if (error instanceof ForgedAnswer) return fail('answers without knowing the secret', true);
        return fail(`can't be reached (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`);
      }
    },
    close: () => {
      agent.destroy();
      secureAgent.destroy();
    },
  };
};
