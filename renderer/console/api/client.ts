/** Requests to the box, signed if it has a secret. */

import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { operatorHeader } from '../../../service/contract/headers.ts';
import { clockHeader, createSigning, signatureHeader } from '../../../service/domain/request-signature.ts';
import type { BoxClock } from './clock.ts';
import { checkStatus, isCode, Unreachable } from './errors.ts';
import type { Session } from './session.ts';

const bytesOf = (data: string | Uint8Array): Uint8Array => (typeof data === 'string' ? utf8ToBytes(data) : data);

export const createPageSigning = () =>
  createSigning({
    sha256: (data) => bytesToHex(sha256(bytesOf(data))),
    hmac: (secret, text) => bytesToHex(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(text))),
    nonce: () => bytesToHex(crypto.getRandomValues(new Uint8Array(16))),
  });

/** The MAC of a signed request; empty if it is not signed. */
export const macOf = (headers: Readonly<Record<string, string>>): string =>
  /;mac=([\da-f]+)$/.exec(headers[signatureHeader] ?? '')?.[1] ?? '';

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON; a string is sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** How long to wait for the whole answer, ms. */
  timeout?: number;
  /** Bytes of an answer that is read at once. Absent: 32 MiB. */
  limit?: number;
}

export interface Client {
  /** The answer's JSON; undefined if it has no body. Waits while the user is asked for the secret. */
  json<Answer>(path: string, options?: RequestOptions): Promise<Answer>;
  /** The answer, which has arrived. @throws Refusal, Unreachable (also if its body stalls, or is too large) */
  request(path: string, options?: RequestOptions): Promise<Response>;
  /** The answer as soon as its head has arrived; its body ends with an error once nothing arrived for `timeout`. */
  stream(path: string, options?: RequestOptions): Promise<Response>;
  /** The headers of one signed request; empty if none is required. Waits while the user is asked for the secret. */
  sign(method: string, path: string, sha256: string): Promise<Record<string, string>>;
  /** Whether the box accepts the secret. @throws Refusal (too many attempts), Unreachable */
  check(secret: string): Promise<boolean>;
}

const ANSWER_MS = 10_000;
/**
 * Requests at a time: a browser has six connections to a box, of which uploads take two. A request that waits is not
 * signed yet: its signature would age.
 */
const AT_ONCE = 4;
const ANSWER_BYTES = 32 * 1024 ** 2;
/** Other origins cannot send headers with this prefix without a preflight. */
const pageHeaders = { 'x-signage-page': '1' };
/** `fetch` accepts no character beyond U+00FF in a header, so each byte of UTF-8 is sent as one character. */
const operatorHeaders = (name: string): Record<string, string> =>
  name === '' ? {} : { [operatorHeader]: String.fromCharCode(...new TextEncoder().encode(name)) };
/** Refusals that another secret would not get. */
const secretRefusals = ['credentials_required', 'signature_required', 'signature_invalid', 'signature_stale'];

/** The answer once its body has arrived, so that a body that stalls or does not end is an error. @throws Error beyond `limit` bytes */
const arrived = async (response: Response, limit: number): Promise<Response> => {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    size += part.value.length;
    if (size > limit) throw new Error('the answer is too large');
    chunks.push(part.value);
  }
  const { status, statusText, headers } = response;
  const body = [204, 205, 304].includes(status) ? null : new Blob(chunks, { type: headers.get('Content-Type') ?? '' });
  return new Response(body, { status, statusText, headers });
};

/** The answer with a body that reports its progress and its end. */
const watched = (response: Response, onBytes: () => void, onEnd: () => void): Response => {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    onEnd();
    return response;
  }
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { value, done } = await reader.read();
        onBytes();
        if (!done) return controller.enqueue(value);
        onEnd();
        controller.close();
      } catch (error) {
        onEnd();
        controller.error(error);
      }
    },
    cancel: async (reason) => {
      onEnd();
      await reader.cancel(reason);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
};

/** Runs at most `limit` jobs at a time. @param first of those that wait: the newest of pictures is the visible one */
export const createLimiter = (limit: number, first: 'newest' | 'oldest') => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <Result>(job: () => Promise<Result>): Promise<Result> => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await job();
    } finally {
      running -= 1;
      (first === 'newest' ? waiting.pop() : waiting.shift())?.();
    }
  };
};

interface Dependencies {
  session: Session;
  clock: BoxClock;
  fetch?: typeof fetch;
  host?: string;
}

export const createClient = ({
  session,
  clock,
  fetch = globalThis.fetch.bind(globalThis),
  host = location.host,
}: Dependencies): Client => {
  const signing = createPageSigning();
  const limited = createLimiter(AT_ONCE, 'oldest');

  const send = async (
    path: string,
    { method = 'GET', body, headers, signal, timeout = ANSWER_MS, limit = ANSWER_BYTES }: RequestOptions,
    secret: string | null,
    isStreamed = false,
  ): Promise<Response> => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const attempt = async (): Promise<{ response: Response; mac: string }> => {
      const target = { host, target: path };
      const signed =
        secret === null
          ? {}
          : signing.signRequest({ ...target, secret, method, body: text ?? '', now: clock.signingTime() });
      const abort = new AbortController();
      const cancel = (): void => abort.abort(signal?.reason);
      let timer = setTimeout(cancel, timeout);
      const release = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
      };
      signal?.addEventListener('abort', cancel);
      if (signal?.aborted) cancel();
      try {
        const response = await fetch(path, {
          method,
          cache: 'no-store',
          headers: {
            ...pageHeaders,
            ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
            ...operatorHeaders(session.operator.value),
            ...headers,
            ...signed,
          },
          ...(text === undefined ? {} : { body: text }),
          signal: abort.signal,
        });
        clock.observe(response.headers.get('Date'));
        const mac = macOf(signed);
        if (!isStreamed || !response.ok) {
          const read = await arrived(response, limit);
          release();
          return { response: read, mac };
        }
        const onBytes = (): void => {
          clearTimeout(timer);
          timer = setTimeout(cancel, timeout);
        };
        return { response: watched(response, onBytes, release), mac };
      } catch (error) {
        abort.abort();
        release();
        if (signal?.aborted) throw error;
        throw new Unreachable('The box does not answer.', { cause: error });
      }
    };
    const { response, mac } = await limited(attempt);
    const time = secret === null ? null : signing.readClock(secret, mac, response.headers.get(clockHeader));
    if (time === null || response.status !== 401) return checkStatus(response);
    // The clock of this machine is wrong: signed once more, by the box's.
    clock.set(time);
    return checkStatus((await limited(attempt)).response);
  };

  const ask = async (path: string, options: RequestOptions, isStreamed: boolean): Promise<Response> => {
    for (;;) {
      const secret = await session.ready();
      try {
        return await send(path, options, secret, isStreamed);
      } catch (error) {
        if (!isCode(error, ...secretRefusals)) throw error;
        // The form asks for the secret, and the request continues with the new one.
        session.refuse(secret);
      }
    }
  };

  const request = (path: string, options: RequestOptions = {}): Promise<Response> => ask(path, options, false);

  return {
    request,
    stream: (path, options = {}) => ask(path, options, true),
    json: async <Answer>(path: string, options: RequestOptions = {}) => {
      const response = await request(path, options);
      return (response.status === 204 ? undefined : await response.json()) as Answer;
    },
    sign: async (method, path, sha256) => {
      const secret = await session.ready();
      const operator = operatorHeaders(session.operator.value);
      if (secret === null) return { ...pageHeaders, ...operator };
      const now = clock.signingTime();
      const signed = signing.signRequest({ secret, method, host, target: path, bodySha256: sha256, now });
      return { ...pageHeaders, ...operator, ...signed };
    },
    check: async (secret) => {
      try {
        await send('/console/api/site', {}, secret);
        return true;
      } catch (error) {
        if (isCode(error, ...secretRefusals)) return false;
        throw error;
      }
    },
  };
};
