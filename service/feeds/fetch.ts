/** One conditional GET of a feed or a source, with limits on time, size and rate. */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { NetworkScope } from '../domain/network-scope.ts';
import { pauseOf, unlessSame, type Validators, validatorsOf } from '../platform/outbound/answer.ts';
import { FetchFault } from '../platform/outbound/fault.ts';
import type { Get } from '../platform/outbound/get.ts';
import { codeOf } from '../platform/store/disk.ts';

export type Answer = {
  /** Network scope of the farthest server in the redirect chain: addresses in the body must not be nearer. */
  nearness: NetworkScope;
} & (
  | { changed: false }
  | {
      changed: true;
      body: Buffer;
      /** The charset parameter of Content-Type; null: absent. */
      charset: string | null;
      /** Base URL of the body: the URL after all redirects. */
      base: string;
      validators: Validators;
    }
);

interface Limits {
  /** Maximum size of the body, both compressed and decompressed. */
  bytes: number;
  /** Time limit for the response headers, in ms, per redirect. */
  answerMs: number;
  /** Time limit for the whole body, in ms, including redirects. */
  totalMs: number;
  /** Minimum average rate of the body, after {@link Limits.graceMs}. */
  bytesPerSecond: number;
  graceMs: number;
}

const defaultLimits: Limits = {
  bytes: 5 * 1024 ** 2,
  answerMs: 15_000,
  totalMs: 60_000,
  bytesPerSecond: 1024,
  graceMs: 10_000,
};

const headersOf = (validators: Validators): Record<string, string> => ({
  Accept: 'application/rss+xml, application/atom+xml, application/feed+json, application/json, */*;q=0.5',
  'Accept-Encoding': 'gzip, br',
  'User-Agent': 'signage-player',
  ...unlessSame(validators),
});

const decoders: Record<string, (() => NodeJS.ReadWriteStream & Readable) | undefined> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const unpacked = (response: IncomingMessage): Readable => {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return response;
  const create = decoders[encoding];
  if (create === undefined) throw new FetchFault(`its encoding is ${encoding.slice(0, 40)}, which was not requested`);
  // Errors surface where the decompressed stream is read.
  return pipeline(response, create(), () => {});
};

/** Why a body could not be read. */
const describe = (error: unknown): string => {
  const code = codeOf(error) ?? '';
  if (/^(Z_|ERR__?Z|ERR_BROTLI|ERR_PADDING)/.test(code)) return 'it cannot be unpacked';
  if (code.startsWith('HPE_')) return `the answer is not HTTP (${code})`;
  return 'the answer was cut off';
};

/**
 * @returns a function that fetches `url`, and sends only the credentials in the URL itself
 * @throws FetchFault for every failure, or the reason of `signal` if that is aborted
 */
export const createFetch =
  (get: Get, limits: Limits = defaultLimits) =>
  async (url: string, validators: Validators, signal: AbortSignal): Promise<Answer> => {
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', onAbort, { once: true });
    const giveUp = (why: string): void => stop.abort(new FetchFault(why));
    const late = setTimeout(() => giveUp(`it took longer than ${limits.totalMs / 1000} s`), limits.totalMs);
    let pace: NodeJS.Timeout | undefined;
    let response: IncomingMessage | undefined;

    const read = async (from: IncomingMessage): Promise<Buffer> => {
      const tooLarge = `it is larger than ${Math.round(limits.bytes / 1024)} KiB`;
      if (Number(from.headers['content-length']) > limits.bytes) throw new FetchFault(tooLarge);
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
        if (size > limits.bytes) throw new FetchFault(tooLarge);
        chunks.push(chunk);
      }
      if (!from.complete) throw new FetchFault('the answer was cut off');
      return Buffer.concat(chunks);
    };

    try {
      const { answerMs } = limits;
      const got = await get(url, {
        headers: headersOf(validators),
        signal: stop.signal,
        credentials: true,
        answerMs,
      });
      const { nearness } = got;
      response = got.response;
      const { statusCode = 0, headers } = response;
      if (statusCode === 304) return { changed: false, nearness };
      if (statusCode !== 200) throw new FetchFault(`the server answers ${statusCode}`, { pause: pauseOf(headers) });
      const body = await read(response);
      return {
        changed: true,
        nearness,
        body,
        charset: /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? null,
        base: got.url.href,
        validators: validatorsOf(headers),
      };
    } catch (error) {
      // If a limit or the caller aborted the request, throw that reason.
      stop.signal.throwIfAborted();
      throw error instanceof FetchFault ? error : new FetchFault(describe(error));
    } finally {
      clearTimeout(late);
      clearInterval(pace);
      signal.removeEventListener('abort', onAbort);
      response?.destroy();
    }
  };
export type Fetch = ReturnType<typeof createFetch>;
