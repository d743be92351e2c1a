import type { IncomingMessage } from 'node:http';
import { parseUrl } from '../../contract/url.ts';
import type { NetworkScope } from '../../domain/network-scope.ts';
import { codeOf } from '../store/disk.ts';
import { FetchFault } from './answer.ts';
import { createLocator } from './locate.ts';
import { createOutbound, type Outbound } from './send.ts';

const MAX_REDIRECTS = 5;
/** The deadline for the response headers, for each redirect. */
const ANSWER_MS = 10_000;

interface Options {
  headers: Record<string, string>;
  signal: AbortSignal;
  /** How near the host may be if the URL does not come from the operator. Default: any. */
  reach?: NetworkScope;
  /** Whether user and password in the URL are sent to its origin. Default: no. */
  credentials?: boolean;
  answerMs?: number;
}

interface Got {
  /** The caller must read or destroy it. */
  response: IncomingMessage;
  /** The URL after all redirects, without user and password. */
  url: URL;
  /** The farthest of the hosts that led there. */
  nearness: NetworkScope;
}

/** A URL without user and password, so that they are not sent by mistake. */
const bare = (address: string | URL, base?: URL): URL => {
  const url = new URL(address, base);
  url.username = '';
  url.password = '';
  return url;
};

/** The target of a redirect. User and password are kept within the same origin only. */
const next = (from: URL, location: string): URL => {
  const url = bare(location, from);
  if (url.origin === from.origin) Object.assign(url, { username: from.username, password: from.password });
  return url;
};

const sentences: Record<string, string> = {
  ECONNREFUSED: 'the server refuses connections',
  ECONNRESET: 'the connection was cut',
  ENETUNREACH: 'there is no way to the server',
  EHOSTUNREACH: 'there is no way to the server',
  ETIMEDOUT: 'the server does not answer',
};

/** The reason why a request failed. */
const faultOf = (error: Error): Error => {
  if (error instanceof FetchFault || error.name === 'AbortError') return error;
  const code = codeOf(error) ?? '';
  const unknown = code.startsWith('HPE_')
    ? `the answer is not HTTP (${code})`
    : `the request failed (${code || error.message})`;
  return new FetchFault(sentences[code] ?? unknown, { cause: error });
};

/**
 * Requests to servers that are not boxes.
 * @param locate resolves host names
 * @param outbound default: without a proxy
 */
export const createGet = (
  locate = createLocator(),
  outbound: Pick<Outbound, 'send' | 'isProxied'> = createOutbound({ proxy: null, noProxy: [], caFile: null }),
) => {
  const ask = async (url: URL, reach: NetworkScope, isFirst: boolean, options: Options) => {
    const { headers, signal, answerMs = ANSWER_MS } = options;
    // The proxy resolves names: what it reaches is on the Internet, by all that is known here.
    const isProxied = outbound.isProxied(url);
    const { nearness, lookup } = isProxied
      ? ({ nearness: 0, lookup: undefined } as const)
      : await locate(url.hostname, signal);
    if (nearness > reach) {
      const how = isFirst ? 'it is in' : 'it redirects into';
      throw new FetchFault(`${how} a network that is nearer than where it was named`, { lasting: true });
    }
    const response = await outbound
      .send(url, { headers, signal, answerMs, ...(lookup && { lookup }) })
      .catch((error: Error) => {
        throw faultOf(error);
      });
    return { response, nearness };
  };

  /**
   * Requests an http(s) URL and follows a few redirects to http(s) URLs, but never from the Internet into the LAN or from
   * the LAN to this machine.
   * @throws FetchFault; an AbortError, or the signal's reason
   */
  return async (address: string, options: Options): Promise<Got> => {
    let url = options.credentials ? new URL(address) : bare(address);
    let reach = options.reach ?? 2;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      if (!/^https?:$/.test(url.protocol)) throw new FetchFault(`it leads to ${url.protocol}`, { lasting: true });
      const { response, nearness } = await ask(url, reach, redirects === 0, options);
      reach = nearness;
      const { location } = response.headers;
      const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0) && location !== undefined;
      if (!isRedirect) return { response, url: bare(url), nearness };
      response.destroy();
      if (parseUrl(location, url) === null)
        throw new FetchFault('it redirects to what is no address', { lasting: true });
      url = next(url, location);
    }
    throw new FetchFault(`it redirects more than ${MAX_REDIRECTS} times`, { lasting: true });
  };
};
export type Get = ReturnType<typeof createGet>;
