/** One conditional GET of a feed or a source, with limits on time, size and rate. */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { NetworkScope } from '../domain/network-scope.ts';
import type { ServiceContext } from '../module.ts';
import { FetchFault, pauseOf, unlessSame, type Validators, validatorsOf } from '../platform/outbound/answer.ts';
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

/** Maximum size of the body, both compressed and decompressed. */
const MAX_BYTES = 5 * 1024 ** 2;
/** Minimum average rate of the body, after the grace. */
const MIN_BYTES_PER_SECOND = 1024;

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
  ({ get, tempo }: Pick<ServiceContext, 'get' | 'tempo'>, maxBytes = MAX_BYTES) =>
  async (url: string, validators: Validators, signal: AbortSignal): Promise<Answer> => {
    const { answer: answerMs, total: totalMs, grace: graceMs } = tempo.feeds;
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', onAbort, { once: true });
    const giveUp = (why: string): void => stop.abort(new FetchFault(why));
    const late = setTimeout(() => giveUp(`it took longer than ${totalMs / 1000} s`), totalMs);
    let pace: NodeJS.Timeout | undefined;
    let response: IncomingMessage | undefined;

    const read = async (from: IncomingMessage): Promise<Buffer> => {
      const tooLarge = `it is larger than ${Math.round(maxBytes / 1024)} KiB`;
      if (Number(from.headers['content-length']) > maxBytes) throw new FetchFault(tooLarge);
      const chunks: Buffer[] = [];
      let sent = 0;
      let size = 0;
      from.on('data', (chunk: Buffer) => {
        sent += chunk.length;
        if (sent > maxBytes) giveUp(tooLarge);
      });
      const since = performance.now();
      pace = setInterval(() => {
        const elapsed = performance.now() - since;
        if (elapsed > graceMs && sent < (elapsed / 1000) * MIN_BYTES_PER_SECOND) giveUp('it comes too slowly');
      }, graceMs / 10);
      for await (const chunk of unpacked(from) as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > maxBytes) throw new FetchFault(tooLarge);
        chunks.push(chunk);
      }
      if (!from.complete) throw new FetchFault('the answer was cut off');
      return Buffer.concat(chunks);
    };

    try {
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
