/**
 * Requests to other boxes over keep-alive connections, with a deadline and a size limit. With a secret, requests to an
 * address are bound to the box there:
 *
 * 1. Challenge: the first request to an address asks only for the time, and has no body. Its signature has a
 *    nonce, so the signed answer proves that the box has the secret and which node id it has. Any host can announce an
 *    address, so nothing else is sent before that.
 * 2. Every other request names that box inside its signature (v2), and is fresh for 3 s if it is a command, else for 30 s.
 *    Its timestamp follows the clock of the called box, because clocks may differ.
 * 3. Bodies are encrypted both ways, and answers are signed.
 */
import { Agent, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { z } from 'zod';
import { createSeal, sealedBytes } from '../auth/seal.ts';
import { provenTime, sha256Hex, signRequest } from '../auth/sign.ts';
import { relayHeader, sealedType } from '../contract/peers.ts';
import { remember } from '../domain/collections.ts';
import { recipientHeader, signatureHeader } from '../domain/request-signature.ts';
import { singleFlight } from '../domain/single-flight.ts';
import type { ServiceContext } from '../module.ts';
import {
  codeOf,
  collect,
  failure,
  late,
  type PeerAnswer,
  parseReply,
  type Reply,
  Unproven,
  unsigned,
  withoutSecret,
} from './reply.ts';

const SLICE_MS = 50;

/**
 * The deadline of a request: aborts after `ms` in which this box could have read an answer. Each slice counts once, however long this box was busy in
 * it: a busy box must not consider the others late.
 */
export const createDeadline = (ms: number): { signal: AbortSignal; clear(): void } => {
  const controller = new AbortController();
  let left = Math.ceil(ms / SLICE_MS);
  const clear = (): void => clearInterval(timer);
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clear();
    controller.abort();
  }, SLICE_MS).unref();
  return { signal: controller.signal, clear };
};

export interface PeerRequest<Schema extends z.ZodType> {
  /** Default: GET, or POST with a body. */
  method?: 'GET' | 'POST';
  path: string;
  /** Sent as JSON; with a secret, encrypted. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Node id of the box that is meant; absent: the box that answers there. */
  recipient?: string;
  /** Schema of the JSON of a successful answer. */
  schema: Schema;
  /** From the start to the last byte, ms. Default: 1000. */
  deadlineMs?: number;
  /** Limit of the answer's body, bytes. Default: 1 MiB. */
  maxBytes?: number;
  /** The box answers a repeat as it answered the first request, so a POST may be repeated after a closed connection. */
  isRepeatable?: true;
  /** The body contains its own age: if the box refuses it as stale, a new body is made for the repeat. */
  isDated?: true;
}

type CallerContext = Pick<ServiceContext, 'now'> & {
  options: Pick<ServiceContext['options'], 'sharedSecret'>;
  ids: Pick<ServiceContext['ids'], 'nodeId'>;
};

export type Caller = ReturnType<typeof createCaller>;

const DEADLINE_MS = 1_000;
const MAX_BYTES = 1024 ** 2;
/** Clocks that differ by less are not corrected. */
const NOTICE_MS = 250;
const MAX_SOCKETS = 16;
/** Addresses whose boxes are remembered. */
const MAX_ADDRESSES = 2_048;

const challengeSchema = z.object({ nodeId: z.uuid() });

interface SendOptions {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  /** Empty without a body. */
  body: string;
  /** Null: the request has no body, and is signed as v1. */
  recipient: string | null;
  /** Asks for what a box tells anyone: neither the request nor the answer is signed. */
  isPlain?: true;
  /** When a body that states its age was created, ms since the epoch; null: the request is dated when it is sent. */
  madeAt: number | null;
  signal: AbortSignal;
  /** Called once the box has accepted a new connection: one that is reused may lead to a box that is off by now. */
  onConnect(): void;
  maxBytes: number;
  isRepeatable: boolean;
}

type SignedReply = Reply & {
  type: string;
  /** The clock of the box, ms since the epoch; null: the answer is not signed with the secret, for this request. */
  time: number | null;
};

class ForgedAnswer extends Error {}

/** Without a secret requests and answers are neither signed nor encrypted, and boxes need not authenticate. */
export const createCaller = ({ options: { sharedSecret: secret }, ids: { nodeId: self }, now }: CallerContext) => {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  const secureAgent = new SecureAgent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  const seal = secret === null ? null : createSeal(secret);

  /** How far the clock of each box is ahead of this one's, ms, by origin. */
  const skews = new Map<string, number>();
  /** The node id that has been proven at each base URL. */
  const proven = new Map<string, string>();

  /**
   * Whether the answer is authentic. An unsigned error counts as no answer, as does any error from an address that has
   * not authenticated.
   */
  const isCredible = (reply: SignedReply, recipient: string | null): boolean =>
    [secret, reply.bytes].includes(null) ||
    reply.time !== null ||
    (reply.status >= 300 && (recipient === null || unsigned.includes(codeOf(reply) ?? '')));

  /** @returns whether the clock of the box is another than what the request was dated by. @param sent when, ms since the epoch */
  const correctSkew = (origin: string, sent: number, time: number): boolean => {
    const skew = skews.get(origin) ?? 0;
    // However long the way there or back took.
    if (time >= sent + skew - NOTICE_MS && time <= now() + skew + NOTICE_MS) return false;
    remember(skews, origin, time - now(), MAX_ADDRESSES);
    return true;
  };

  const send = (url: URL, options: SendOptions, mayRetry = true): Promise<SignedReply> =>
    new Promise<SignedReply>((resolve, reject) => {
      const { method, body, headers, recipient, madeAt, signal, onConnect, maxBytes, isRepeatable, isPlain } = options;
      const secure = url.protocol === 'https:';
      const named = recipient === null ? {} : { recipient };
      const sent = now();
      const time = (madeAt ?? sent) + (skews.get(url.origin) ?? 0);
      const version = recipient === null ? 'v1' : 'v2';
      const credentials =
        secret === null || isPlain ? {} : signRequest({ secret, method, url, body, now: time, version, ...named });
      const request = (secure ? requestHttps : requestHttp)(url, {
        method,
        agent: secure ? secureAgent : agent,
        signal,
        headers: { ...headers, ...credentials },
      });
      request.on('socket', (socket) => {
        if (socket.connecting) socket.once('connect', onConnect);
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The box may just have closed a reused connection. It may have carried out a POST.
        const mayRepeat = mayRetry && (method === 'GET' || isRepeatable) && request.reusedSocket;
        const isStale = mayRepeat && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
        if (isStale) resolve(send(url, options, false));
        else reject(error);
      });
      request.on('response', (response) => {
        const { statusCode: status = 0, headers: replied, socket } = response;
        const { remoteAddress: address = '' } = socket;
        collect(response, maxBytes)
          .then((bytes) => {
            const asked = {
              request: String(request.getHeader(signatureHeader)),
              status,
              sha256: sha256Hex(bytes ?? ''),
            };
            const peerTime =
              secret === null || bytes === null || isPlain
                ? null
                : provenTime(secret, { ...asked, headerOf: (name) => replied[name] });
            const reply = { status, bytes, address, time: peerTime, type: replied['content-type'] ?? '' };
            const isOff = peerTime !== null && correctSkew(url.origin, sent, peerTime);
            const isStale = isOff && status === 401 && codeOf(reply) === 'signature_stale';
            if (isStale && mayRetry && madeAt === null) resolve(send(url, options, false));
            else if (!isPlain && !isCredible(reply, recipient)) reject(new ForgedAnswer());
            else resolve(reply);
          })
          .catch(reject);
      });
      request.end(body);
    });

  const open = async (reply: SignedReply): Promise<Reply> => {
    if (seal === null || reply.bytes === null || !reply.type.startsWith(sealedType)) return reply;
    return { ...reply, bytes: await seal.open(Buffer.from(reply.bytes).toString()) };
  };

  /** Base URLs of the boxes that have accepted the connection of the challenge in progress. */
  const connected = new Set<string>();

  /** @throws Unproven, or the error of the request */
  const challenge = singleFlight(async (base: string): Promise<string> => {
    const { signal, clear } = createDeadline(DEADLINE_MS);
    const shared = {
      method: 'GET' as const,
      headers: {},
      body: '',
      madeAt: null,
      signal,
      onConnect: () => void connected.add(base),
      maxBytes: MAX_BYTES,
      isRepeatable: true,
    };
    const ask = (recipient: string | null) => send(new URL(`${base}/api/peers/time`), { ...shared, recipient });
    const prove = async (): Promise<Reply> => {
      const reply = await ask(null);
      if (codeOf(reply) !== 'host_refused') return reply;
      // The address is not the box's own: its port is mapped. What the box tells anyone names the recipient instead.
      const plain = await send(new URL(`${base}/healthz`), { ...shared, recipient: null, isPlain: true });
      const told = parseReply(plain, challengeSchema);
      return told.ok ? open(await ask(told.body.nodeId)) : reply;
    };
    const reply = await prove()
      .catch((error) => {
        throw signal.aborted ? new Unproven(late(DEADLINE_MS, connected.has(base))) : error;
      })
      .finally(() => {
        clear();
        connected.delete(base);
      });
    const answer = parseReply(reply, challengeSchema);
    if (!answer.ok) throw new Unproven(answer);
    remember(proven, base, answer.body.nodeId, MAX_ADDRESSES);
    return answer.body.nodeId;
  });

  /** The node id of the box at an address, once it is proven. */
  const identify = async (base: string): Promise<string> => proven.get(base) ?? challenge(base);

  /** Sends a request to the box that has proven who it is at the address. */
  const sendProven = async (
    { base, path, recipient }: { base: string; path: string; recipient: string | undefined },
    options: Omit<SendOptions, 'recipient'>,
    mayRetry = true,
  ): Promise<SignedReply> => {
    const late = new Promise<never>((_, reject) => {
      options.signal.addEventListener('abort', () => reject(options.signal.reason), { once: true });
    });
    const there = await Promise.race([identify(base), late]);
    const reply = await send(new URL(base + path), { ...options, recipient: recipient ?? there });
    const code = reply.status < 300 ? null : codeOf(reply);
    const isOther = code === 'misdirected';
    // Another secret may have been set since.
    if (isOther || code === 'signature_invalid') proven.delete(base);
    return isOther && recipient === undefined && mayRetry
      ? sendProven({ base, path, recipient }, options, false)
      : reply;
  };

  return {
    /** @param base the box's base URL without a trailing slash */
    call: async <Schema extends z.ZodType>(
      base: string,
      { path, body, schema, recipient, deadlineMs = DEADLINE_MS, maxBytes = MAX_BYTES, ...rest }: PeerRequest<Schema>,
    ): Promise<PeerAnswer<z.output<Schema>>> => {
      const { method = body === undefined ? 'GET' : 'POST', isRepeatable = false } = rest;
      const { signal, clear } = createDeadline(deadlineMs);
      let isConnected = false;
      const onConnect = (): void => {
        isConnected = true;
      };
      const madeAt = rest.isDated ? now() : null;
      const text = body === undefined ? '' : JSON.stringify(body);
      const shared = { method, madeAt, signal, onConnect, isRepeatable };
      const ask = async (): Promise<Reply> => {
        if (seal === null) {
          const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
          const named = recipient === undefined ? {} : { [recipientHeader]: recipient };
          const headers = { ...rest.headers, ...type, ...named };
          return send(new URL(base + path), { ...shared, headers, body: text, recipient: null, maxBytes });
        }
        const type = body === undefined ? {} : { 'Content-Type': sealedType };
        const headers = { [relayHeader]: self, ...rest.headers, ...type };
        const sealed = body === undefined ? '' : await seal.seal(text);
        const options = { ...shared, headers, body: sealed, maxBytes: sealedBytes(maxBytes) };
        return open(await sendProven({ base, path, recipient }, options));
      };
      try {
        return parseReply(await ask(), schema);
      } catch (error) {
        if (error instanceof Unproven) return error.failure;
        if (signal.aborted) return late(deadlineMs, isConnected || connected.has(base));
        if (error instanceof ForgedAnswer) return failure(withoutSecret, true);
        return failure(`cannot be reached (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`);
      } finally {
        clear();
      }
    },
    /** Closes every connection; calls in progress fail. */
    close: (): void => {
      agent.destroy();
      secureAgent.destroy();
    },
  };
};
