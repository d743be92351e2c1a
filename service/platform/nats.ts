/** Opens a connection to the hub of a fleet, over TCP or WebSocket. */
import { readFile } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { checkServerIdentity, type PeerCertificate, rootCertificates } from 'node:tls';
import {
  type Authenticator,
  type ConnectionOptions,
  errors,
  jwtAuthenticator,
  type NatsConnection,
  NatsConnectionImpl,
  nkeyAuthenticator,
  nkeys,
  setTransportFactory,
  type WsConnectionOptions,
  wsconnect,
} from '@nats-io/transport-node';
import { NodeTransport, nodeResolveHost } from '@nats-io/transport-node/lib/node_transport.js';
import { WebSocket } from 'ws';
import { bareHost, isThisMachine } from '../domain/network-scope.ts';
import { FetchFault } from './outbound/answer.ts';
import type { Outbound } from './outbound/send.ts';

/** How hubs are reached over WebSocket. */
type Way = Pick<Outbound, 'connect' | 'roots'>;

/** The credentials of a user: a JWT and the seed of its key. */
export interface UserCredentials {
  jwt: string;
  seed: string;
}

interface HubAddress {
  /** May contain a user and a password. */
  url: string;
  /** Path of the `.creds` file, or its content; null: none. */
  credentials: string | UserCredentials | null;
}

/** How long a hub may take until it has accepted a connection. */
const CONNECT_MS = 8_000;
/** A connection whose peer does not answer two of these is closed. */
const PING_MS = 30_000;

/** The address without user and password. */
export const withoutUser = (url: string): string => {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href.replace(/\/$/, '');
};

const hostOf = (url: string): string => bareHost(new URL(url).hostname);

/** Whether hosts on the way to the hub can read what it and its clients send, and answer in its place. */
export const isExposed = (url: string): boolean =>
  /^(nats|ws):$/.test(new URL(url).protocol) && !isThisMachine(hostOf(url));

/** Whether the URL has a password that every host on the way to the hub can read. */
export const exposesPassword = (url: string): boolean => {
  const { username, password } = new URL(url);
  return isExposed(url) && `${username}${password}` !== '';
};

/** Completes "the hub ..."; the hub was not asked. */
class Unusable extends Error {
  override readonly name = 'Unusable';
}

/** Whether the credentials, and not the hub, are at fault: no attempt was made. */
export const isUnusable = (error: unknown): boolean => error instanceof Unusable;

/** What a JWT says of its user. @returns null: it cannot be read */
export const readUser = (jwt: string): { name: string; expiresAt: number | null } | null => {
  try {
    const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
    const { name, exp } = claims;
    return { name: String(name ?? ''), expiresAt: typeof exp === 'number' && exp > 0 ? exp * 1_000 : null };
  } catch {
    return null;
  }
};

/** @throws Unusable */
const checkSeed = (seed: string, path: string): string => {
  try {
    nkeys.fromSeed(Buffer.from(seed));
    return seed;
  } catch {
    throw new Unusable(`is not asked: the seed in ${path}, which SIGNAGE_FLEET_CREDENTIALS names, is damaged`);
  }
};

/**
 * Reads a `.creds` file, as `signage fleet credentials` writes it, or one with the seed of an nkey alone.
 * @throws Unusable
 */
export const readCredentials = async (path: string): Promise<{ jwt: string | null; seed: string }> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Unusable(`is not asked: ${path}, which SIGNAGE_FLEET_CREDENTIALS names, cannot be read (${error.code})`);
  });
  const [, jwt = null] = /BEGIN NATS USER JWT-+\s+(\S+)/.exec(text) ?? [];
  const [, seed] =
    jwt === null ? (/\b(SU[A-Z2-7]+)\b/.exec(text) ?? []) : (/USER NKEY SEED-+\s+(\S+)/.exec(text) ?? []);
  if (seed === undefined) {
    throw new Unusable(`is not asked: ${path}, which SIGNAGE_FLEET_CREDENTIALS names, is no .creds file`);
  }
  return { jwt, seed: checkSeed(seed, path) };
};

const authenticatorOf = ({ jwt, seed }: { jwt: string | null; seed: string }): Authenticator => {
  const bytes = Buffer.from(seed);
  return jwt === null ? nkeyAuthenticator(bytes) : jwtAuthenticator(jwt, bytes);
};

interface HubOptions extends ConnectionOptions {
  /**
   * Ends the socket: the library leaves one open to a hub that accepts a connection and then says nothing. Absent for
   * connections of others in this process, since the library has one transport for all.
   */
  signal?: AbortSignal;
}

class HubTransport extends NodeTransport {
  override dial({ hostname, port }: { hostname: string; port: number }): Promise<Socket> {
    const { signal } = this.options as HubOptions;
    return new Promise((resolve, reject) => {
      const socket = createConnection({ host: hostname, port, noDelay: true });
      const end = (): void => void socket.destroy();
      if (signal?.aborted) end();
      signal?.addEventListener('abort', end);
      let fault = new Error('the connection was closed');
      socket.on('error', (error) => {
        fault = error;
      });
      socket.once('close', () => reject(fault));
      socket.once('connect', () => {
        socket.removeAllListeners();
        socket.once('close', () => signal?.removeEventListener('abort', end));
        resolve(socket);
      });
    });
  }
}

/** Node 20 has no WebSocket of its own. @param onError called with the errors of the socket: the library keeps their text */
const webSocketOf = async (
  url: string,
  signal: AbortSignal,
  outbound: Way | undefined,
  onError: (error: Error) => void,
): ReturnType<NonNullable<WsConnectionOptions['wsFactory']>> => {
  const proxied = await outbound?.connect(new URL(url), signal);
  const socket = new WebSocket(url, {
    handshakeTimeout: CONNECT_MS,
    ...(outbound?.roots != null && { ca: [...rootCertificates, outbound.roots] }),
    ...(proxied && { createConnection: () => proxied as Socket }),
  });
  socket.on('error', onError);
  signal.addEventListener('abort', () => socket.terminate());
  return { socket: socket as unknown as globalThis.WebSocket, encrypted: url.startsWith('wss:') };
};

const untrusted = /^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_UNTRUSTED|CERT_SIGNATURE|INVALID_CA)/;

/** What a code of OpenSSL or Node says of a certificate; null: it is about something else. */
const certificateFault = (code: string): string | null => {
  if (code === 'CERT_HAS_EXPIRED') return 'has a certificate that has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'has a certificate that is not valid yet: compare the clocks';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'has a certificate for another name than that of the URL';
  return untrusted.test(code) ? 'has a certificate of an authority that is not trusted here' : null;
};

const chainOf = (error: unknown): Error[] =>
  error instanceof Error ? [error, ...(error.cause === error ? [] : chainOf(error.cause))] : [];

/** @returns a sentence part that completes "the hub ..." */
export const connectFault = (error: unknown): string => {
  const chain = chainOf(error);
  const is = (kind: new (...args: never[]) => Error): boolean => chain.some((each) => each instanceof kind);
  if (isUnusable(error)) return (error as Error).message;
  if (is(errors.UserAuthenticationExpiredError)) return 'refuses the credentials: they have expired';
  if (error instanceof FetchFault) return `cannot be reached (${error.message})`;
  const text = chain.map(({ message }) => message).join(' ');
  if (/authentication timeout/i.test(text)) return 'does not answer';
  if (is(errors.AuthorizationError) || /authentication revoked/i.test(text)) return 'refuses the credentials';
  if (/does not support 'tls'/.test(text)) return 'does not offer TLS, which the URL asks for';
  const faults = chain.flatMap((each) => certificateFault(String((each as NodeJS.ErrnoException).code)) ?? []);
  if (faults[0] !== undefined) return faults[0];
  if (/wrong version number|SSL routines|before secure TLS/i.test(text)) return 'does not speak TLS as it should';
  return /timeout|abort/i.test(text) ? 'does not answer' : 'cannot be reached';
};

/**
 * Connects once; the connection does not reconnect. With `tls:` nothing is sent before TLS, and the certificate is checked
 * for the host of the URL, an address included.
 * @param name of the client, for the hub's monitoring
 * @param outbound the proxy, which WebSockets alone go through, and further authorities; default: neither
 * @throws an Error; {@link connectFault} describes it
 */
export const openLine = async (
  { url, credentials }: HubAddress,
  name: string,
  outbound?: Way,
): Promise<NatsConnection> => {
  const { protocol, username, password } = new URL(url);
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const read = typeof credentials === 'string' ? await readCredentials(credentials) : credentials;
  const host = hostOf(url);
  const options: ConnectionOptions = {
    servers: withoutUser(url),
    name,
    reconnect: false,
    timeout: CONNECT_MS,
    pingInterval: PING_MS,
    ...(read !== null && { authenticator: authenticatorOf(read) }),
    ...(pass !== '' ? { user, pass } : user !== '' && { token: user }),
  };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), CONNECT_MS);
  let fail: (error: unknown) => void = () => undefined;
  const fault = new Promise<never>((_, reject) => {
    fail = reject;
    late.signal.addEventListener('abort', () => reject(new Error('timeout')));
  });
  fault.catch(() => undefined);
  try {
    if (protocol === 'ws:' || protocol === 'wss:') {
      return await Promise.race([
        wsconnect({
          ...options,
          wsFactory: (address) => {
            const made = webSocketOf(address, late.signal, outbound, fail);
            // Without a socket the library never settles.
            made.catch(fail);
            return made;
          },
        }),
        fault,
      ]);
    }
    setTransportFactory({ factory: () => new HubTransport(), dnsResolveFn: nodeResolveHost });
    const tls = {
      checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(host, certificate),
      ...(outbound?.roots != null && { ca: [...rootCertificates, outbound.roots] }),
    };
    const hubOptions: HubOptions = {
      ...options,
      signal: late.signal,
      ...(protocol === 'tls:' && { tls: tls as object }),
    };
    return await Promise.race([NatsConnectionImpl.connect(hubOptions), fault]);
  } catch (error) {
    if (late.signal.aborted) throw new Error('timeout', { cause: error });
    // What the library has left open.
    late.abort();
    const { expiresAt } = (read?.jwt != null ? readUser(read.jwt) : null) ?? { expiresAt: null };
    const hasExpired = expiresAt !== null && expiresAt < Date.now() && error instanceof errors.AuthorizationError;
    throw hasExpired ? new errors.UserAuthenticationExpiredError(error.message) : error;
  } finally {
    clearTimeout(timer);
  }
};
