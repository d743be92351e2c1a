import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecurely } from 'node:https';
import type { Nearness } from '../../domain/network-scope.ts';
import { codeOf } from '../store/disk.ts';
import { FetchFault } from './fault.ts';
import { createLocator } from './locate.ts';

const MOST_REDIRECTS = 5;
/** From connecting to the end of the headers, for each redirect anew. */
const ANSWER_MS = 10_000;

interface Options {
  headers: Record<string, string>;
  signal: AbortSignal;
  /** How near the address may be, where somebody else than the operator named it. Default: as near as can be. */
  reach?: Nearness;
  /** The user and password of the address are sent to its origin, and to no other. Default: to nobody. */
  credentials?: boolean;
  answerMs?: number;
}

interface Got {
  /** The caller reads it, or destroys it. */
  response: IncomingMessage;
  /** Where it came from, after all redirects. */
  url: URL;
  /** Of the farthest of those who led there. */
  nearness: Nearness;
}

/** An address without user and password: nothing that could open a door is sent where nobody meant it to go. */
const bare = (address: string | URL, base?: URL): URL => {
  const url = new URL(address, base);
  url.username = '';
  url.password = '';
  return url;
};

/** Where a redirect leads. Only the origin that was meant gets the user and password again. */
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

/** Why a request failed; what is not known by its code is told by it. */
const faultOf = (error: Error): Error => {
  if (error instanceof FetchFault || error.name === 'AbortError') return error;
  const code = codeOf(error) ?? '';
  const unknown = code.startsWith('HPE_')
    ? `the answer is not HTTP (${code})`
    : `the request failed (${code || error.message})`;
  return new FetchFault(sentences[code] ?? unknown, { cause: error });
};

/**
 * The one way out to servers that are no boxes.
 * @param locate finds hosts
 */
export const createGet = (locate = createLocator()) => {
  const ask = async (url: URL, reach: Nearness, isFirst: boolean, options: Options) => {
    const { headers, signal, answerMs = ANSWER_MS } = options;
    const { nearness, lookup } = await locate(url.hostname, signal);
    if (nearness > reach) {
      const how = isFirst ? 'it is in' : 'it redirects into';
      throw new FetchFault(`${how} a network that is nearer than where it was named`, { lasting: true });
    }
    const send = url.protocol === 'https:' ? requestSecurely : requestPlain;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      // A connection of its own: one that is kept alive could be handed over with another answer's rest in it.
      const request = send(url, { headers, signal, lookup, agent: false });
      const deadline = setTimeout(() => request.destroy(new FetchFault('the server does not answer')), answerMs);
      request.on('close', () => clearTimeout(deadline));
      request.on('error', (error) => reject(faultOf(error)));
      request.on('response', (answer) => {
        clearTimeout(deadline);
        resolve(answer);
      });
      request.end();
    });
    // What befalls the body is heard by whoever reads it; nobody may be listening yet.
    response.on('error', () => undefined);
    return { response, nearness };
  };

  /**
   * Asks for an http(s) address, and follows its redirects: a few, only to http(s), and never from the Internet into
   * the site's network or from there to this machine, where a foreign server has no business.
   *
   * @throws FetchFault; an AbortError, or the signal's reason
   */
  return async (address: string, options: Options): Promise<Got> => {
    let url = options.credentials ? new URL(address) : bare(address);
    let reach = options.reach ?? 2;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
      if (!/^https?:$/.test(url.protocol)) throw new FetchFault(`it leads to ${url.protocol}`, { lasting: true });
      const { response, nearness } = await ask(url, reach, redirects === 0, options);
      reach = nearness;
      const { location } = response.headers;
      const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0) && location !== undefined;
      if (!isRedirect) return { response, url: bare(url), nearness };
      response.destroy();
      if (!URL.canParse(location, url.href))
        throw new FetchFault('it redirects to what is no address', { lasting: true });
      url = next(url, location);
    }
    throw new FetchFault(`it redirects more than ${MOST_REDIRECTS} times`, { lasting: true });
  };
};
export type Get = ReturnType<typeof createGet>;
