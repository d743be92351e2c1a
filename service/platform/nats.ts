/** Opens a connection to the hub of a fleet, over TCP or WebSocket. */
import { readFile } from 'node:fs/promises';
import {
  type Authenticator,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  nkeyAuthenticator,
  type WsConnectionOptions,
  wsconnect,
} from '@nats-io/transport-node';
import { WebSocket } from 'ws';

interface HubAddress {
  /** May contain a user and a password. */
  url: string;
  /** Path of the `.creds` file; null: none. */
  credentials: string | null;
}

const CONNECT_MS = 10_000;
/** A connection whose peer does not answer two of these is closed. */
const PING_MS = 30_000;

/** The address without user and password. */
export const withoutUser = (url: string): string => {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href.replace(/\/$/, '');
};

/**
 * Reads a `.creds` file, or one with the seed of an nkey alone, as `signage fleet credentials` writes them. It is read for
 * each connection: it may have been replaced.
 * @throws an Error that completes "the hub ..."
 */
const readCredentials = async (path: string): Promise<Authenticator> => {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`is not asked: ${path}, which SIGNAGE_FLEET_CREDENTIALS names, cannot be read (${error.code})`);
  });
  const text = bytes.toString('utf8');
  if (/BEGIN NATS USER JWT/.test(text)) return credsAuthenticator(bytes);
  const [seed] = /\bSU[A-Z2-7]{56}\b/.exec(text) ?? [];
  if (seed === undefined) {
    throw new Error(`is not asked: ${path}, which SIGNAGE_FLEET_CREDENTIALS names, is no .creds file`);
  }
  return nkeyAuthenticator(Buffer.from(seed));
};

/** Node 20 has no WebSocket of its own. */
const openWebSocket = (url: string): ReturnType<NonNullable<WsConnectionOptions['wsFactory']>> => {
  const socket = new WebSocket(url, { handshakeTimeout: CONNECT_MS });
  return Promise.resolve({ socket: socket as unknown as globalThis.WebSocket, encrypted: url.startsWith('wss:') });
};

/** @returns a sentence part that completes "the hub ..." */
export const connectFault = (error: unknown): string => {
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) {
    return 'refuses the credentials';
  }
  const message = error instanceof Error ? error.message : '';
  if (/^(is not asked|does not offer)/.test(message)) return message;
  if (/certificate/i.test(message)) return 'has a certificate that is not trusted';
  return /timeout/i.test(message) ? 'does not answer' : 'cannot be reached';
};

/**
 * Connects once; the connection does not reconnect.
 * @param inboxPrefix of the subjects on which answers are received; absent: that of NATS
 * @param name of the client, for the hub's monitoring
 * @throws an Error; {@link connectFault} describes it
 */
export const openLine = async (
  { url, credentials }: HubAddress,
  name: string,
  inboxPrefix?: string,
): Promise<NatsConnection> => {
  const { protocol, username, password } = new URL(url);
  const servers = withoutUser(url);
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const authenticator = credentials === null ? null : await readCredentials(credentials);
  const options: ConnectionOptions = {
    servers,
    name,
    ...(inboxPrefix !== undefined && { inboxPrefix }),
    reconnect: false,
    timeout: CONNECT_MS,
    pingInterval: PING_MS,
    ...(authenticator !== null && { authenticator }),
    ...(pass !== '' ? { user, pass } : user !== '' && { token: user }),
  };
  if (protocol === 'ws:' || protocol === 'wss:') return wsconnect({ ...options, wsFactory: openWebSocket });
  const line = await connect(options);
  if (protocol === 'tls:' && line.info?.tls_required !== true && line.info?.tls_available !== true) {
    await line.close();
    throw new Error('does not offer TLS, which the URL asks for');
  }
  return line;
};
