import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecurely } from 'node:https';
import { codeOf } from '../store/disk.ts';
import type { Locate } from './address.ts';
import { FetchFault } from './fault.ts';

const MOST_REDIRECTS = 5;
/** From connecting to the end of the headers, for each redirect anew. */
const ANSWER_MS = 10_000;

interface Options {
  headers: Record<string, string>;
  locate: Locate;
  signal: AbortSignal;
}

/** The address without user and password: nothing that could open a door is ever sent. */
const bare = (address: string | URL, base?: URL): URL => {
  const url = new URL(address, base);
  url.username = '';
  url.password = '';
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
  return new FetchFault(sentences[code] ?? `the request failed (${code || error.message})`, { cause: error });
};

const ask = async (url: URL, leastNear: number | null, { headers, locate, signal }: Options) => {
  const { nearness, lookup } = await locate(url.hostname, signal);
  if (leastNear !== null && nearness > leastNear) {
    throw new FetchFault('it redirects into a network that is nearer than its own', { lasting: true });
  }
  const send = url.protocol === 'https:' ? requestSecurely : requestPlain;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // A connection of its own: one that is kept alive could be handed over with another answer's rest in it.
    const request = send(url, { headers, signal, lookup, agent: false });
    const deadline = setTimeout(() => request.destroy(new FetchFault('the server does not answer')), ANSWER_MS);
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
 * Asks for an http(s) address, and follows its redirects: a few, only to http(s), and never from the Internet into the
 * site's network or from there to this machine, where a foreign server has no business. No credentials are ever sent.
 * The caller reads the answer, or destroys it.
 *
 * @throws FetchFault; an AbortError
 */
export const get = async (address: string, options: Options): Promise<IncomingMessage> => {
  let url = bare(address);
  let leastNear: number | null = null;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
    if (!/^https?:$/.test(url.protocol)) throw new FetchFault(`it leads to ${url.protocol}`, { lasting: true });
    const { response, nearness } = await ask(url, leastNear, options);
    const { location } = response.headers;
    if (![301, 302, 303, 307, 308].includes(response.statusCode ?? 0) || location === undefined) return response;
    response.destroy();
    if (!URL.canParse(location, url.href))
      throw new FetchFault('it redirects to what is no address', { lasting: true });
    url = bare(location, url);
    leastNear = Math.min(nearness, leastNear ?? nearness);
  }
  throw new FetchFault(`it redirects more than ${MOST_REDIRECTS} times`, { lasting: true });
};
