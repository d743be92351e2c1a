/** One polite, bounded GET of a feed or a source. */
import { lookup as lookUp } from 'node:dns/promises';
import { get as getPlain, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { get as getSecure } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { nearness } from '../outbound/networks.ts';

const isPrivate = (address: string): boolean => nearness(address) > 0;

/** What the next request is made conditional by (RFC 9110, 13). */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

export type Answer =
  | { changed: false }
  | {
      changed: true;
      body: Buffer;
      /** Of the answer's media type; null: it says none. */
      charset: string | null;
      /** What relative addresses in the body are relative to: the address after all redirects. */
      base: string;
      validators: Validators;
    };

export interface Limits {
  /** Of the body, both as it is sent and once it is unpacked. */
  bytes: number;
  /** Until the head of the answer is there, in ms. */
  answerMs: number;
  /** Until the body is whole, in ms, all redirects included. */
  totalMs: number;
  /** What the body must keep up on the average, once it has been coming for {@link Limits.graceMs}. */
  bytesPerSecond: number;
  graceMs: number;
  redirects: number;
}

const defaultLimits: Limits = {
  bytes: 5 * 1024 ** 2,
  answerMs: 15_000,
  totalMs: 60_000,
  bytesPerSecond: 1024,
  graceMs: 10_000,
  redirects: 5,
};

/** Why a fetch came to nothing: a clause for a person, in which no part of the address stands. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
  /** The server asks not to be asked again for so long, in ms. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

const decoders: Record<string, (() => NodeJS.ReadWriteStream & Readable) | undefined> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const headersOf = ({ etag, lastModified }: Validators): OutgoingHttpHeaders => ({
  Accept: 'application/rss+xml, application/atom+xml, application/feed+json, application/json, */*;q=0.5',
  'Accept-Encoding': 'gzip, br',
  'User-Agent': 'signage-player',
  ...(etag === null ? {} : { 'If-None-Match': etag }),
  ...(lastModified === null ? {} : { 'If-Modified-Since': lastModified }),
});

/** RFC 9110, 10.2.3: seconds, or a date. */
const retryAfter = (value: string | undefined): number | null => {
  if (value === undefined) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : null;
};

/** The address that a name stands for, held fast so that it can't become another one between the look and the request. */
const pin = async (
  hostname: string,
  isWithin: typeof isPrivate,
): Promise<{ isPrivate: boolean; lookup: LookupFunction }> => {
  const addresses = await lookUp(hostname.replace(/^\[|\]$/g, ''), { all: true });
  return {
    isPrivate: addresses.some(({ address }) => isWithin(address)),
    lookup: (_, { all }, callback) => {
      const [first] = addresses;
      if (all) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    },
  };
};

/** A look-up of a name can't be called off, but need not be waited for. */
const orAborted = <T>(result: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });

const follow = (location: string | undefined, from: URL): URL => {
  if (location === undefined || !URL.canParse(location, from.href)) throw new FetchError('it redirects to no address');
  const to = new URL(location, from);
  if (!/^https?:$/.test(to.protocol)) throw new FetchError(`it redirects to a ${to.protocol} address`);
  return to;
};

const ask = (url: URL, headers: OutgoingHttpHeaders, lookup: LookupFunction, signal: AbortSignal) =>
  new Promise<IncomingMessage>((answered, reject) => {
    const get = url.protocol === 'https:' ? getSecure : getPlain;
    // A connection of its own: one that is kept alive would hold a server's slot for a quarter of an hour.
    get(url, { headers, signal, lookup, agent: false, maxHeaderSize: 16 * 1024 }, answered).on('error', reject);
  });

const unpacked = (response: IncomingMessage): Readable => {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return response;
  const create = decoders[encoding];
  if (create === undefined) throw new FetchError(`its encoding is ${encoding.slice(0, 40)}, which nobody asked for`);
  // What goes wrong is met where the unpacked bytes are read.
  return pipeline(response, create(), () => {});
};

const describe = (error: unknown): string => {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (/^(Z_|ERR__?Z|ERR_BROTLI|ERR_PADDING)/.test(code)) return "it can't be unpacked";
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') return 'the answer was cut off';
  if (code.startsWith('HPE_')) return `the answer is not HTTP (${code})`;
  return `the server can't be reached (${code || 'for no known reason'})`;
};

/**
 * @param isWithin whether an IP address is in the box's own network
 * @returns what fetches `url`. Nothing is sent but the request, and the credentials of the address itself.
 * @throws FetchError for whatever goes wrong, and the reason of `signal` where it is aborted
 */
export const createFetch =
  (limits: Limits = defaultLimits, isWithin = isPrivate) =>
  async (url: string, validators: Validators, signal: AbortSignal): Promise<Answer> => {
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', onAbort, { once: true });
    let reason: FetchError | null = null;
    const giveUp = (why: string): void => {
      reason ??= new FetchError(why);
      stop.abort(reason);
    };
    const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
    const late = setTimeout(() => giveUp(`it took longer than ${seconds(limits.totalMs)}`), limits.totalMs);
    let silent: NodeJS.Timeout | undefined;
    let pace: NodeJS.Timeout | undefined;
    let response: IncomingMessage | undefined;

    const open = async (): Promise<{ response: IncomingMessage; at: URL }> => {
      let at = new URL(url);
      let here = await orAborted(pin(at.hostname, isWithin), stop.signal);
      const isOurs = here.isPrivate;
      for (let hop = 0; ; hop += 1) {
        const answer = await ask(at, headersOf(validators), here.lookup, stop.signal);
        if (![301, 302, 303, 307, 308].includes(answer.statusCode ?? 0)) return { response: answer, at };
        answer.destroy();
        if (hop >= limits.redirects) throw new FetchError(`it redirects more than ${limits.redirects} times`);
        at = follow(answer.headers.location, at);
        here = await orAborted(pin(at.hostname, isWithin), stop.signal);
        // A server out there must not be able to make a box ask its own network for things.
        if (here.isPrivate && !isOurs) throw new FetchError('it redirects from the internet into a private network');
      }
    };

    const read = async (from: IncomingMessage): Promise<Buffer> => {
      const tooLarge = `it is larger than ${Math.round(limits.bytes / 1024)} KiB`;
      if (Number(from.headers['content-length']) > limits.bytes) throw new FetchError(tooLarge);
      const chunks: Buffer[] = [];
      let sent = 0;
      let size = 0;
      from.on('data', (chunk: Buffer) => {
        sent += chunk.length;
        if (sent > limits.bytes) giveUp(tooLarge);
      });
      const since = performance.now();
      pace = setInterval(() => {
        const elapsed = performance.now() - since;
        if (elapsed > limits.graceMs && sent < (elapsed / 1000) * limits.bytesPerSecond) giveUp('it comes too slowly');
      }, limits.graceMs / 10);
      for await (const chunk of unpacked(from) as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > limits.bytes) throw new FetchError(tooLarge);
        chunks.push(chunk);
      }
      if (!from.complete) throw new FetchError('the answer was cut off');
      return Buffer.concat(chunks);
    };

    try {
      silent = setTimeout(() => giveUp(`no answer within ${seconds(limits.answerMs)}`), limits.answerMs);
      const opened = await open();
      clearTimeout(silent);
      response = opened.response;
      response.on('error', () => {});
      const { statusCode = 0, headers } = response;
      if (statusCode === 304) return { changed: false };
      if (statusCode !== 200) {
        throw new FetchError(`the server answers ${statusCode}`, retryAfter(headers['retry-after']));
      }
      const body = await read(response);
      return {
        changed: true,
        body,
        charset: /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? null,
        base: opened.at.href,
        validators: { etag: headers.etag ?? null, lastModified: headers['last-modified'] ?? null },
      };
    } catch (error) {
      signal.throwIfAborted();
      if (reason !== null) throw reason;
      if (error instanceof FetchError) throw error;
      throw new FetchError(describe(error));
    } finally {
      clearTimeout(late);
      clearTimeout(silent);
      clearInterval(pace);
      signal.removeEventListener('abort', onAbort);
      response?.destroy();
    }
  };
export type Fetch = ReturnType<typeof createFetch>;
