/**
 * Requests to other boxes: kept-alive connections, bounded in time and size. Where a secret is set they are signed, and so
 * must be the answers: whoever announces himself on the LAN is asked, and what peers say is believed. Signed for by the
 * clock of the box that is asked, as far as it is known: clocks need not agree.
 */
import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { z } from 'zod';
import {
  answerHeader,
  clockHeader,
  readClock,
  sha256Hex,
  signAnswer,
  signatureHeader,
  signRequest,
} from '../auth/sign.ts';

/** What is asked of a box. */
export interface PeerRequest<Schema extends z.ZodType> {
  /** Default: GET, or POST where there is a body. */
  method?: 'GET' | 'POST';
  /** Path and query. */
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** What the JSON of a good answer must be. */
  schema: Schema;
  /** From the start to the last byte, ms. Default: 1000. */
  deadlineMs?: number;
  /** The largest answer that is read, bytes. Default: 1 MiB. */
  mostBytes?: number;
}

/** What came of it. Nothing that a box does makes a call throw. */
export type PeerAnswer<T> =
  | {
      ok: true;
      status: number;
      body: T;
      /** The IP address that answered, as a socket has it. */
      address: string;
    }
  | {
      ok: false;
      /** Null where there was no whole answer, or none of a peer's: the box is away, hangs, or breaks off. */
      status: number | null;
      /** Whether there was any answer at all. */
      heard: boolean;
      /** The code of the error that it answered. */
      code: string | null;
      /** For a person; completes "the box ...". */
      reason: string;
    };

type Failure = Extract<PeerAnswer<unknown>, { ok: false }>;

export interface Caller {
  /** @param base the box's base URL, without a slash at its end */
  call<Schema extends z.ZodType>(base: string, request: PeerRequest<Schema>): Promise<PeerAnswer<z.output<Schema>>>;
  /** Cuts every connection; calls under way fail. */
  close(): void;
}

const DEADLINE_MS = 1_000;
const MOST_BYTES = 1024 ** 2;
/** Connections to one box. */
const MOST_SOCKETS = 16;

const errorBody = z.object({ error: z.object({ code: z.string().max(64) }) });

interface Ask extends Required<Pick<PeerRequest<z.ZodType>, 'method' | 'headers' | 'mostBytes'>> {
  /** Empty: none. */
  body: string;
  signal: AbortSignal;
}

interface Reply {
  status: number;
  /** Null: too many. */
  bytes: Buffer | null;
  address: string;
  signature: string | string[] | undefined;
}

/** Whoever answered does not know the secret. */
class ForgedAnswer extends Error {}

const macOf = (request: ClientRequest): string => String(request.getHeader(signatureHeader)).slice(-64);

/** Null: it is larger than that. */
const collect = async (response: IncomingMessage, mostBytes: number): Promise<Buffer | null> => {
  const chunks: Buffer[] = [];
  let size = Number(response.headers['content-length'] ?? 0);
  if (size <= mostBytes) {
    size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > mostBytes) break;
      chunks.push(chunk);
    }
  }
  if (size <= mostBytes) return Buffer.concat(chunks);
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

/** What the errors that keep boxes apart mean for whoever set them up. */
const meanings: Readonly<Record<string, string>> = {
  signature_invalid: 'it has another secret',
  signature_stale: 'the clocks of the two differ, and its version is older',
  credentials_required: 'it has a secret, and this one has none',
  host_refused: 'it does not answer to this name: use its address, or add the name to its SIGNAGE_ALLOWED_HOSTS',
};

const judge = <Schema extends z.ZodType>(
  { status, bytes, address }: Reply,
  schema: Schema,
): PeerAnswer<z.output<Schema>> => {
  if (bytes === null) return { ok: false, status, heard: true, code: null, reason: 'answers more than is taken in' };
  const json = parseJson(bytes);
  if (status < 200 || status > 299) {
    const code = errorBody.safeParse(json).data?.error.code ?? null;
    const meaning = meanings[code ?? ''];
    const reason = ['answers', status, code ?? '', meaning === undefined ? '' : `(${meaning})`].join(' ').trimEnd();
    return { ok: false, status, heard: true, code, reason };
  }
  const { success, data, error } = schema.safeParse(json);
  if (success) return { ok: true, status, body: data, address };
  const path = error.issues[0]?.path.join('.');
  return {
    ok: false,
    status,
    heard: true,
    code: null,
    reason: `answers what was not asked for${path ? ` (${path})` : ''}`,
  };
};

interface Options {
  /** Null: requests are not signed, and answers need not be. */
  secret: string | null;
  /** The machine's time of day, ms since the epoch. */
  now?: () => number;
}

export const createCaller = ({ secret, now = Date.now }: Options): Caller => {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_SOCKETS });
  const secureAgent = new SecureAgent({ keepAlive: true, maxSockets: MOST_SOCKETS });

  /** By how much the clocks of other boxes are ahead of this one's, ms, by origin. */
  const skews = new Map<string, number>();

  /** Whether an answer comes from one who knows the secret, and is the answer to this request. */
  const isVouched = (request: ClientRequest, { status, bytes, signature }: Reply): boolean => {
    if (secret === null || bytes === null) return true;
    const asked = { request: String(request.getHeader(signatureHeader)), status, sha256: sha256Hex(bytes) };
    return signature === signAnswer(secret, asked);
  };

  const send = (url: URL, ask: Ask, again = true): Promise<Reply> =>
    new Promise<Reply>((resolve, reject) => {
      const { method, body, headers, signal, mostBytes } = ask;
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
        // A kept connection may have been closed just now. A command is not sent again: it may have been carried out.
        const mayRepeat = again && method === 'GET' && request.reusedSocket;
        const isStale = mayRepeat && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
        if (isStale) resolve(send(url, ask, false));
        else reject(error);
      });
      request.on('response', (response) => {
        const { statusCode: status = 0, headers: answered, socket } = response;
        const { remoteAddress: address = '' } = socket;
        const told = secret === null ? null : readClock(secret, macOf(request), answered[clockHeader]);
        collect(response, mostBytes)
          .then((bytes) => {
            const reply = { status, bytes, address, signature: answered[answerHeader] };
            if (told !== null && again) {
              skews.set(url.origin, told - now());
              resolve(send(url, ask, false));
            } else if (status < 300 && !isVouched(request, reply)) reject(new ForgedAnswer());
            else resolve(reply);
          })
          .catch(reject);
      });
      request.end(body);
    });

  return {
    call: async (base, { path, body, schema, deadlineMs = DEADLINE_MS, mostBytes = MOST_BYTES, ...request }) => {
      const { method = body === undefined ? 'GET' : 'POST', headers = {} } = request;
      const signal = AbortSignal.timeout(deadlineMs);
      const text = body === undefined ? '' : JSON.stringify(body);
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const ask = { method, body: text, headers: { ...headers, ...type }, signal, mostBytes };
      try {
        return judge(await send(new URL(base + path), ask), schema);
      } catch (error) {
        const fail = (reason: string, heard = false): Failure => ({
          ok: false,
          status: null,
          heard,
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
