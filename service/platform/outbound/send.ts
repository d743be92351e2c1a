/** One request to a host that is no box: directly, or through the outgoing proxy (RFC 9110, 7.3.2 and 9.3.6). */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestPlain } from 'node:http';
import { request as requestSecurely } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
  connect as tlsConnect,
} from 'node:tls';
import { bareHost } from '../../domain/network-scope.ts';
import { createBypass } from '../../domain/proxy-bypass.ts';
import { type Options, refusal } from '../options/index.ts';
import { codeOf } from '../store/disk.ts';
import { FetchFault } from './answer.ts';

interface Request {
  method?: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  /** Resolves the host of a direct request. */
  lookup?: LookupFunction;
  /** The deadline for the response headers, the way through the proxy included. */
  answerMs: number;
}

/** Certificate authorities beyond those of Node.js, as PEM. @throws OptionsError */
const readRoots = (path: string): string => {
  const refuse = (why: string) => refusal('caFile', path, `a PEM file with certificates (${why})`);
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (error) {
    throw refuse(codeOf(error) ?? 'it cannot be read');
  }
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    for (const each of certificates) new X509Certificate(each);
  } catch {
    throw refuse('one of them is damaged');
  }
  if (certificates.length === 0) throw refuse('it has none');
  return pem;
};

const basic = ({ username, password }: URL): Record<string, string> => {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'Proxy-Authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
};

const portOf = ({ port, protocol }: URL): number => Number(port) || (/^(https|wss):$/.test(protocol) ? 443 : 80);

/** @param status of a proxy that does not do what it was asked */
const refusedBy = (proxy: URL, status: number): FetchFault => {
  // tinyproxy refuses a wrong password with 401.
  const isUnknown = status === 407 || status === 401;
  const why = isUnknown ? 'wants a user and a password, or refuses those of SIGNAGE_PROXY' : `answers ${status}`;
  return new FetchFault(`the proxy ${proxy.host} ${why}`);
};

const unreachable = (proxy: URL, error: Error): Error => {
  if (error instanceof FetchFault || error.name === 'AbortError') return error;
  const code = codeOf(error) ?? '';
  const what = code.startsWith('HPE_') ? 'does not speak HTTP' : 'cannot be reached';
  return new FetchFault(`the proxy ${proxy.host} ${what} (${code || error.message})`, { cause: error });
};

export const createOutbound = ({ proxy: given, noProxy, caFile }: Pick<Options, 'proxy' | 'noProxy' | 'caFile'>) => {
  const proxy = given === null ? null : new URL(given);
  const isDirect = createBypass(noProxy);
  const roots = caFile === null ? null : readRoots(caFile);
  let context: SecureContext | undefined;
  /** With the further authorities; reading those of Node.js takes milliseconds of a start. */
  const secureContext = (): { secureContext?: SecureContext } => {
    if (roots === null) return {};
    context ??= createSecureContext({ ca: [...rootCertificates, roots] });
    return { secureContext: context };
  };

  const proxyOf = (url: URL): URL | null => (isDirect(url.hostname) ? null : proxy);

  const toProxy = (through: URL, options: RequestOptions): ClientRequest => {
    const { protocol, hostname } = through;
    const request = protocol === 'https:' ? requestSecurely : requestPlain;
    const to = { protocol, hostname: bareHost(hostname), port: portOf(through), agent: false as const };
    // No server name of TLS is an address (RFC 6066, 3).
    return request({ ...to, ...secureContext(), ...options });
  };

  /** Opens a tunnel to the host of the URL. @param hold receives the request, to destroy it */
  const tunnel = (through: URL, url: URL, signal: AbortSignal, hold: (request: ClientRequest) => void) =>
    new Promise<Duplex>((resolve, reject) => {
      const authority = `${url.hostname}:${portOf(url)}`;
      const headers = { Host: authority, ...basic(through) };
      const request = toProxy(through, { method: 'CONNECT', path: authority, headers, signal });
      hold(request);
      request.on('error', (error) => reject(unreachable(through, error)));
      request.on('connect', ({ statusCode = 0 }, socket) => {
        if (statusCode >= 200 && statusCode < 300) return resolve(socket);
        socket.destroy();
        reject(refusedBy(through, statusCode));
      });
      request.end();
    });

  const secure = (socket: Duplex, url: URL): TLSSocket => {
    const host = bareHost(url.hostname);
    const name = isIP(host) > 0 ? {} : { servername: host };
    return tlsConnect({ socket, host, ...name, ...secureContext() });
  };

  const open = async (url: URL, asked: Request, hold: (request: ClientRequest) => void): Promise<ClientRequest> => {
    const { method = 'GET', headers, signal, lookup } = asked;
    const isSecure = url.protocol === 'https:';
    const through = proxyOf(url);
    const sent = { method, headers, signal };
    // No keep-alive: a reused connection could still hold the rest of another response.
    const options = { ...sent, agent: false as const };
    if (through === null) {
      return (isSecure ? requestSecurely : requestPlain)(url, {
        ...options,
        ...(isSecure && secureContext()),
        ...(lookup && { lookup }),
      });
    }
    if (isSecure) {
      const socket = await tunnel(through, url, signal, hold);
      // With an agent, the connection would be that of the agent.
      return requestSecurely(url, { ...sent, createConnection: () => secure(socket, url) });
    }
    const auth = [url.username, url.password].map(decodeURIComponent).join(':');
    return toProxy(through, {
      ...options,
      path: `${url.origin}${url.pathname}${url.search}`,
      headers: { ...headers, Host: url.host, ...basic(through) },
      ...(auth !== ':' && { auth }),
    });
  };

  return {
    /** Certificate authorities beyond those of Node.js, as PEM; null: none. */
    roots,
    /** Whether the proxy resolves the host of the URL, and not this box. */
    isProxied: (url: URL): boolean => proxyOf(url) !== null,
    /** A TLS connection to the host of the URL through the proxy; null: it is reached directly. @throws FetchFault */
    connect: async (url: URL, signal: AbortSignal): Promise<Duplex | null> => {
      const through = proxyOf(url);
      if (through === null) return null;
      const socket = await tunnel(through, url, signal, () => undefined);
      signal.addEventListener('abort', () => socket.destroy(), { once: true });
      return /^(https|wss):$/.test(url.protocol) ? secure(socket, url) : socket;
    },
    /**
     * Sends a request; redirects are not followed. The caller must read or destroy the response.
     * @throws FetchFault of the proxy, an AbortError, or the error of the connection
     */
    send: async (url: URL, asked: Request): Promise<IncomingMessage> => {
      const through = proxyOf(url);
      let current: ClientRequest | undefined;
      const late = (): void => {
        const who =
          through === null ? 'the server does not answer' : `nothing answers through the proxy ${through.host}`;
        current?.destroy(new FetchFault(who));
      };
      const deadline = setTimeout(late, asked.answerMs);
      try {
        const request = await open(url, asked, (each) => {
          current = each;
        });
        current = request;
        const response = await new Promise<IncomingMessage>((resolve, reject) => {
          const isPlainHop = through !== null && url.protocol === 'http:';
          request.on('error', (error) => reject(isPlainHop ? unreachable(through, error) : error));
          request.on('response', resolve);
          request.end(asked.body);
        });
        // The reader of the body handles errors; it may not listen yet.
        response.on('error', () => undefined);
        if (through === null || response.statusCode !== 407) return response;
        response.destroy();
        throw refusedBy(through, 407);
      } finally {
        clearTimeout(deadline);
      }
    },
  };
};
export type Outbound = ReturnType<typeof createOutbound>;
