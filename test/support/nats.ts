/** A real nats-server on a port and a store of its own: the hub of a fleet, or a server of another kind. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';
import { isAtLeast, OLDEST_SERVER, openHub } from '../../service/cli/fleet/hub.ts';
import { type HubSetup, writeHub } from '../../service/cli/fleet/hub-files.ts';
import { renewSite, systemCredentials } from '../../service/cli/fleet/site-credentials.ts';
import { openLine } from '../../service/platform/nats.ts';
import { freePort, untilListening } from './ports.ts';
import { findProgram } from './program.ts';
import { temporaryFolder } from './service.ts';

const isEnough = (program: string): boolean => {
  try {
    const [, version = ''] = / v(\S+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? [];
    return isAtLeast(version, OLDEST_SERVER);
  } catch {
    return false;
  }
};

/** Where `.ci/nats-server` unpacks that of Debian 13. */
const cached = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'signage-player/nats-server/usr/sbin/nats-server',
);
// Debian keeps it where only root looks.
const found = [findProgram('nats-server'), '/usr/sbin/nats-server', cached].find(
  (program) => program !== undefined && existsSync(program) && isEnough(program),
);
/** CI must not pass without it. */
export const hasNats = found !== undefined || process.env.CI === 'true';
export const natsProgram = found ?? 'nats-server';

type OnEnd = (end: () => void | Promise<void>) => void;

export interface Server {
  port: number;
  url: string;
  /** Starts it, again after {@link Server.kill}: on the same port. */
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT. */
  freeze(isFrozen: boolean): void;
  /** The id of its process. */
  pid(): number;
  /** A client, which is closed with the test. */
  client(options?: ConnectionOptions): Promise<NatsConnection>;
}

/** Starts nats-server with a file, which ends with the test. */
const startServer = async (path: string, port: number, onEnd: OnEnd): Promise<Server> => {
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const start = async (): Promise<void> => {
    child = spawn(natsProgram, ['-c', path], { stdio: ['ignore', 'ignore', 'pipe'] });
    let output = '';
    child.stderr?.on('data', (text: Buffer) => {
      output = (output + text.toString()).slice(-4_000);
    });
    await untilListening(port, () => {
      if (child?.exitCode !== null) throw new Error(`nats-server has ended: ${output}`);
    });
  };
  await start();
  onEnd(kill);
  const url = `nats://127.0.0.1:${port}`;
  return {
    ...{ port, url, start, kill },
    freeze: (isFrozen) => void child?.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT'),
    pid: () => child?.pid ?? 0,
    client: async (options = {}) => {
      const nats = await connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 50, ...options });
      onEnd(() => nats.close());
      return nats;
    },
  };
};

/** Starts a server that is no hub: a leaf node, or one of another configuration. @param config without `listen` */
export const startNats = async (config = '', onEnd: OnEnd = onTestFinished): Promise<Server> => {
  const [path, port] = [join(temporaryFolder(onEnd), 'nats.conf'), await freePort()];
  writeFileSync(path, `listen: "127.0.0.1:${port}"\n${config}`);
  return startServer(path, port, onEnd);
};

export interface Hub extends Server {
  /** Of its files, as `signage fleet hub` makes them. */
  folder: string;
  /** Path of the credentials of the head office. */
  operator: string;
  /** For the command line of the head office. */
  env: { SIGNAGE_FLEET_URL: string; SIGNAGE_FLEET_CREDENTIALS: string };
  /** URL of its port for leaf nodes. */
  leafUrl: string;
  /** Path of the credentials of a site, which gets an account at the first call. */
  credentials(site: string): Promise<string>;
  /** A client of the head office, which is closed with the test. */
  headOffice(): Promise<NatsConnection>;
  /** A client with the credentials of a file. */
  as(file: string, options?: ConnectionOptions): Promise<NatsConnection>;
}

/** Starts a hub that ends with the test. @param setup its `init` false: without buckets and streams */
export const startHub = async (
  { init = true, tls = null }: { init?: boolean; tls?: HubSetup['tls'] } = {},
  onEnd: OnEnd = onTestFinished,
): Promise<Hub> => {
  const [folder, port, leafPort] = [temporaryFolder(onEnd), await freePort(), await freePort()];
  const { keys } = writeHub(folder, { listen: `127.0.0.1:${port}`, leafListen: `127.0.0.1:${leafPort}`, tls });
  const server = await startServer(join(folder, 'nats-server.conf'), port, onEnd);
  const url = tls === null ? server.url : server.url.replace('nats:', 'tls:');
  const operator = join(folder, 'operator.creds');
  const made = new Map<string, string>();
  const as = (file: string, options: ConnectionOptions = {}): Promise<NatsConnection> =>
    server.client({ authenticator: credsAuthenticator(readFileSync(file)), ...options });
  const credentials = async (site: string): Promise<string> => {
    const known = made.get(site);
    if (known !== undefined) return known;
    const nats = await openLine({ url: server.url, credentials: systemCredentials(keys) }, 'test');
    const output = join(folder, `${site}.creds`);
    await renewSite(nats, { site, keys, keysFolder: join(folder, 'keys'), output, leafUrl: null });
    await nats.close();
    made.set(site, output);
    return output;
  };
  if (init) {
    const nats = await as(operator, tls === null ? {} : { tls: { caFile: tls.cert } });
    await openHub(nats).init(null);
    await nats.close();
  }
  return {
    ...server,
    url,
    folder,
    operator,
    credentials,
    as,
    env: { SIGNAGE_FLEET_URL: url, SIGNAGE_FLEET_CREDENTIALS: operator },
    leafUrl: `${tls === null ? 'nats' : 'tls'}://127.0.0.1:${leafPort}`,
    headOffice: () => as(operator),
  };
};
