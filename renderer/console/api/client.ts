/** Requests to the box, signed if it has a secret. */
import type { Me } from '../../../service/contract/console/people.ts';
import { operatorHeader } from '../../../service/contract/headers.ts';
import { clockHeader, headerText, repeatRefused, signatureHeader } from '../../../service/domain/request-signature.ts';
import { createPageSigning, sha256Hex } from '../../shared/page-signing.ts';
import type { BoxClock } from './clock.ts';
import { checkStatus, isCode, Refusal, Unproven, Unreachable } from './errors.ts';
import type { PersonKey } from './person-key.ts';
import { type Credential, isOtherPerson, type Session } from './session.ts';

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON; a string is sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** How long to wait for an answer, and then for each further part of it, ms. */
  timeout?: number;
  /** Bytes of an answer that is read at once. Absent: 32 MiB. */
  limit?: number;
}

export type Client = ReturnType<typeof createClient>;

const ANSWER_MS = 10_000;
/** From the first part of an answer that is read at once to its last. */
const MOST_MS = 120_000;
/**
 * Requests at a time: a browser has six connections to a box, of which uploads take two. A request that waits is not
 * signed yet: its signature would age.
 */
const AT_ONCE = 4;
const ANSWER_BYTES = 32 * 1024 ** 2;
/** For this time a box certainly remembers a nonce: it does so for 300 s. */
const NONCE_MS = 240_000;
/** Other origins cannot send headers with this prefix without a preflight. */
const pageHeaders = { 'x-signage-page': '1' };
/** `fetch` accepts no character beyond U+00FF in a header, so each byte of UTF-8 is sent as one character. */
const operatorHeaders = (name: string): Record<string, string> =>
  name === '' ? {} : { [operatorHeader]: headerText(name) };
/** Refusals that another secret would not get. */
const secretRefusals = ['credentials_required', 'signature_required', 'signature_invalid', 'signature_stale'];
/** Refusals of the key itself. `signature_stale` is not one: the clock is wrong, and the key is kept. */
const keyRefusals = ['credentials_required', 'key_unknown'];
const refusalsOf = (credential: Credential | null): readonly string[] =>
  credential === null || typeof credential === 'string' ? secretRefusals : keyRefusals;
/** What a box says without proof: another secret was signed with, or it has not come to the signature. */
const unprovenCodes = [
  'credentials_required',
  'signature_required',
  'signature_invalid',
  'host_refused',
  'too_many_requests',
  'busy',
  'storage_unavailable',
];
/** The answer once its body has arrived, so that a body that stalls or does not end is an error. @throws Error beyond `limit` bytes */
const arrived = async (response: Response, limit: number, onBytes = (): void => undefined): Promise<Response> => {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    onBytes();
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

interface Signed {
  method: string;
  path: string;
  /** SHA-256, hex; of nothing where there is no body. */
  bodySha256: string;
  headers: Readonly<Record<string, string>> | undefined;
}

interface Dependencies {
  session: Session;
  clock: BoxClock;
  fetch?: typeof fetch;
  host?: string;
  /** Whether answers certainly come from the box; a secure context is no proof: `http://localhost` is one. */
  isHttps?: () => boolean;
}

export const createClient = ({
  session,
  clock,
  fetch = globalThis.fetch.bind(globalThis),
  host = location.host,
  isHttps = () => location.protocol === 'https:',
}: Dependencies) => {
  const signing = createPageSigning();
  const limited = createLimiter(AT_ONCE, 'oldest');

  /** The node id of the box: only that box takes what is signed for it. */
  let recipient: Promise<string> | undefined;
  /** Whether the recipient has proven the clock: a box that refuses may be another one of the site, whose clock is wrong. */
  let isProven = false;
  const identify = async (): Promise<string> => {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const answer = await fetch('/healthz', { cache: 'no-store', headers: pageHeaders, signal });
      const response = await arrived(answer, ANSWER_BYTES);
      const { nodeId } = (await response.json()) as { nodeId?: unknown };
      if (typeof nodeId !== 'string' || nodeId === '') throw new Error('it tells no node id');
      return nodeId;
    } catch (error) {
      recipient = undefined;
      throw new Unreachable('The box does not answer.', { cause: error });
    }
  };

  /** The headers of a request, and its signature; without a secret no signature. */
  const sign = async (
    { method, path, bodySha256, headers: given }: Signed,
    credential: Credential | null,
    nonce: string,
  ): Promise<Record<string, string>> => {
    const headers = { ...pageHeaders, ...operatorHeaders(session.operator.value), ...given };
    if (credential === null) return headers;
    recipient ??= identify();
    const id = await recipient;
    const now = clock.signingTime();
    const request = { method, host, target: path, bodySha256, headers, now, recipient: id, nonce };
    const signed =
      typeof credential === 'string'
        ? signing.signRequest({ ...request, secret: credential })
        : await signing.signAsPerson(credential, request);
    return { ...headers, ...signed };
  };

  /**
   * Checks the proof of an answer that has arrived, and sets the clock by it.
   * @throws Unproven, or Refusal for one that comes before the signature is looked at
   */
  const prove = async (
    headers: Record<string, string>,
    secret: Credential | null,
    response: Response,
  ): Promise<void> => {
    if (secret === null) return;
    if (typeof secret !== 'string') {
      // Answers to a person are not proven, but over https they come from the box; over http their clock is shown alone.
      const time = Number(response.headers.get(clockHeader) ?? Number.NaN);
      if (isHttps()) clock.set(time || clock.signingTime());
      else clock.observe(time);
      if (isHttps() || response.status !== 401) return;
      const refusal = await checkStatus(response.clone()).catch((error: unknown) => error);
      if (isCode(refusal, 'signature_stale')) throw Object.assign(refusal, { clockOff: clock.difference.value });
      return;
    }
    const bytes = new Uint8Array(await response.clone().arrayBuffer());
    const request = headers[signatureHeader] ?? '';
    const headerOf = (name: string): string | null => response.headers.get(name);
    const asked = { request, status: response.status, sha256: sha256Hex(bytes) };
    const time = signing.provenTime(secret, { ...asked, headerOf });
    if (time !== null) {
      clock.set(time);
      isProven = response.ok;
      return;
    }
    const refusal = await checkStatus(response).catch((error: unknown) => error);
    if (!isCode(refusal, ...unprovenCodes)) throw new Unproven('The answer is not proven.');
    throw Object.assign(refusal, { isProven: false });
  };

  /** A change that was sent may have reached the box, unless it proves that it was refused. */
  const uncertain = (method: string, error: unknown): unknown => {
    const isRefused = error instanceof Refusal && error.isProven;
    return method === 'GET' || isRefused ? error : Object.assign(error as Error, { mayHappen: true });
  };

  const repeating = (
    method: string,
    secret: Credential | null,
    attempt: () => Promise<Response>,
  ): Promise<Response> => {
    let isRepeated = false;
    return repeatRefused(
      async () => {
        // A change that is signed by a clock that is ahead could be held back until then.
        if (typeof secret === 'string' && !isProven && method !== 'GET') await send('/healthz', {}, secret);
        return checkStatus(await attempt());
      },
      (error) => (error instanceof Refusal ? error.code : null),
      (code) => {
        isRepeated = true;
        if (code === 'misdirected') recipient = undefined;
      },
    ).catch((error: unknown) => {
      // What one box has refused, a host on the way may take to the one that it was signed for.
      throw isRepeated && method !== 'GET' ? Object.assign(error as Error, { mayHappen: true }) : error;
    });
  };

  const send = async (
    path: string,
    { method = 'GET', body, headers, signal, timeout = ANSWER_MS, limit = ANSWER_BYTES }: RequestOptions,
    secret: Credential | null,
    isStreamed = false,
    nonce = signing.newNonce(),
  ): Promise<Response> => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const attempt = async (): Promise<Response> => {
      const type: Record<string, string> = text === undefined ? {} : { 'Content-Type': 'application/json' };
      const bodySha256 = sha256Hex(text ?? '');
      const all = await sign({ method, path, bodySha256, headers: { ...type, ...headers } }, secret, nonce);
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
          redirect: 'error',
          headers: all,
          ...(text === undefined ? {} : { body: text }),
          signal: abort.signal,
        });
        if (secret === null) clock.observe(Date.parse(response.headers.get('Date') ?? ''));
        const onBytes = (): void => {
          clearTimeout(timer);
          timer = setTimeout(cancel, timeout);
        };
        if (!isStreamed || !response.ok) {
          const whole = setTimeout(cancel, MOST_MS);
          const read = await arrived(response, limit, onBytes).finally(() => clearTimeout(whole));
          release();
          await prove(all, secret, read);
          return read;
        }
        return watched(response, onBytes, release);
      } catch (error) {
        abort.abort();
        release();
        if (signal?.aborted) throw error;
        const isAnswered = error instanceof Unproven || error instanceof Refusal;
        const reason = isAnswered ? error : new Unreachable('The box does not answer.', { cause: error });
        throw uncertain(method, reason);
      }
    };
    return repeating(method, secret, () => limited(attempt));
  };

  const ask = async (path: string, options: RequestOptions, isStreamed: boolean): Promise<Response> => {
    // A host on the way may have the operator asked for the secret, and pass on both requests.
    const nonce = signing.newNonce();
    const { method = 'GET' } = options;
    let sentAt: number | undefined;
    let signer: string | null = null;
    for (;;) {
      const secret = await session.ready();
      sentAt ??= performance.now();
      const now = session.signer.peek();
      if (method !== 'GET' && isOtherPerson(signer, now))
        throw uncertain(method, new Unproven('Another person signs.'));
      signer = now;
      if (method !== 'GET' && performance.now() - sentAt > NONCE_MS) {
        throw uncertain(method, new Unproven('The secret came too late.'));
      }
      try {
        return await send(path, options, secret, isStreamed, nonce);
      } catch (error) {
        if (!isCode(error, ...refusalsOf(secret)) || session.isLeaving(secret)) throw error;
        // The form asks for the secret, and the request continues with the new one.
        session.refuse(secret, (error as Error).message);
      }
    }
  };

  const request = (path: string, options: RequestOptions = {}): Promise<Response> => ask(path, options, false);

  /** The answer to a credential that the session does not have; null: the box refuses it. */
  const unlessRefused = (path: string, credential: Credential): Promise<Response | null> =>
    send(path, {}, credential).catch((error: unknown) => {
      if (isCode(error, ...refusalsOf(credential))) return null;
      throw error;
    });

  return {
    /**
     * The answer, which has arrived. @throws Refusal, Unreachable (also if its body stalls, or is too large), Unproven
     */
    request,
    /** The answer as soon as its head has arrived; its body ends with an error once nothing arrived for `timeout`. */
    stream: (path: string, options: RequestOptions = {}): Promise<Response> => ask(path, options, true),
    /** The answer's JSON; undefined if it has no body. Waits while the user is asked for the secret. */
    json: async <Answer>(path: string, options: RequestOptions = {}): Promise<Answer> => {
      const response = await request(path, options);
      return (response.status === 204 ? undefined : await response.json()) as Answer;
    },
    /**
     * Sends a file with `put`, which is given the headers to send, signed if the box requires it, once more where it was stale or another box is meant by now.
     * Waits while the user is asked for the secret.
     * @throws Refusal, Unreachable, Unproven
     */
    upload: async (
      path: string,
      bodySha256: string,
      put: (headers: Record<string, string>) => Promise<Response>,
      { method = 'PUT', headers: given = {} }: Pick<RequestOptions, 'method' | 'headers'> = {},
    ): Promise<Response> => {
      const secret = await session.ready();
      const nonce = signing.newNonce();
      return repeating(method, secret, async () => {
        const headers = await sign({ method, path, bodySha256, headers: given }, secret, nonce);
        try {
          const response = await put(headers);
          await prove(headers, secret, response);
          return response;
        } catch (error) {
          throw uncertain(method, error);
        }
      });
    },
    /** Whom the box knows by a key; null: nobody. @throws Refusal, Unreachable */
    ownerOf: async (key: PersonKey): Promise<Me['person']> => {
      const response = await unlessRefused('/console/api/me', key);
      return response === null ? null : ((await response.json()) as Me).person;
    },
    /** Whether the box accepts the secret. @throws Refusal (too many attempts), Unreachable */
    check: async (secret: string): Promise<boolean> => (await unlessRefused('/console/api/site', secret)) !== null,
  };
};
