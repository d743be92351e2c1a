/** A real mosquitto on a port of its own, which can be stopped and started again, and clients of it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { connectAsync, type IClientOptions } from 'mqtt';
import { expect, onTestFinished } from 'vitest';
import { patience } from '../support/observe.ts';
import { freePort, untilListening } from '../support/ports.ts';
import { findProgram } from '../support/program.ts';
import { type OnEnd, temporaryFolder } from '../support/service.ts';

/** Debian keeps it where only root looks. */
export const mosquitto = findProgram('mosquitto') ?? '/usr/sbin/mosquitto';
/** CI must not pass without it. */
export const isSkipped =
  process.env.CI !== 'true' && (findProgram('mosquitto_passwd') === undefined || !findProgram('mosquitto_sub'));

interface Setup {
  /** With a user and a password; absent: anybody may connect. */
  user?: { name: string; password: string };
  /** PEM files of the certificate and its key; absent: no TLS. */
  tls?: { cert: string; key: string };
}

export const startBroker = async ({ user, tls }: Setup = {}, onEnd: OnEnd = onTestFinished) => {
  const folder = temporaryFolder(onEnd);
  const port = await freePort();
  const lines = [
    `listener ${port} 127.0.0.1`,
    `allow_anonymous ${user === undefined}`,
    'persistence true',
    `persistence_location ${folder}/`,
  ];
  if (process.getuid?.() === 0) lines.push('user root');
  if (user !== undefined) {
    const passwords = join(folder, 'passwords');
    execFileSync('mosquitto_passwd', ['-b', '-c', passwords, user.name, user.password], { stdio: 'ignore' });
    chmodSync(passwords, 0o600);
    lines.push(`password_file ${passwords}`);
  }
  if (tls !== undefined) lines.push(`certfile ${tls.cert}`, `keyfile ${tls.key}`);
  const config = join(folder, 'mosquitto.conf');
  writeFileSync(config, `${lines.join('\n')}\n`);

  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  const start = async (): Promise<void> => {
    child = spawn(mosquitto, ['-c', config], { stdio: 'ignore' });
    await untilListening(port);
  };
  onEnd(stop);
  await start();
  const login = user === undefined ? '' : `${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@`;
  return { port, start, stop, url: `${tls === undefined ? 'mqtt' : 'mqtts'}://${login}127.0.0.1:${port}` };
};
export type TestBroker = Awaited<ReturnType<typeof startBroker>>;

/** Listens for clients in place of a broker. @returns its URL, and the clients that are connected */
const serveClients = async (onClient: (client: Socket) => void) => {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => undefined).on('close', () => clients.delete(client));
    onClient(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const client of clients) client.destroy();
  });
  return { url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`, clients };
};

/** A proxy between client and broker that injects messages. */
export const startMiddle = async (broker: Pick<TestBroker, 'port'>) => {
  const { url, clients } = await serveClients((client) => {
    const line = connect(broker.port, '127.0.0.1');
    client.pipe(line).pipe(client);
    line.on('error', () => undefined).on('close', () => client.destroy());
    client.on('close', () => line.destroy());
  });
  return {
    url,
    /** Sends a PUBLISH packet (MQTT 3.1.1, 3.3; at most 127 bytes) to each connected client, subscribed or not. */
    inject: (topic: string, payload: string): void => {
      const bytes = Buffer.from(topic + payload);
      const head = Buffer.from([0x30, bytes.length + 2, 0, Buffer.byteLength(topic)]);
      for (const client of clients) client.write(Buffer.concat([head, bytes]));
    },
  };
};

/** A broker that takes any client, and then reads nothing until it is told to. */
export const startDeaf = async () => {
  const { url, clients } = await serveClients((client) =>
    client.once('data', () => client.pause().write(Buffer.from([0x20, 2, 0, 0]))),
  );
  return {
    url,
    read: (): void => {
      for (const client of clients) client.on('data', () => undefined).resume();
    },
  };
};

/** What a client is told of a site, and what the broker keeps of it now. */
export const listen = async ({ url }: Pick<TestBroker, 'url'>, site = 'default', options: IClientOptions = {}) => {
  const client = await connectAsync(url, { reconnectPeriod: 100, ...options });
  onTestFinished(() => client.endAsync(true));
  /** The newest payload by topic; empty ones are removed. */
  const kept = new Map<string, string>();
  const heard: [topic: string, payload: string][] = [];
  client.on('message', (topic, payload) => {
    if (!topic.includes(`/${site}/`) && !topic.includes(`/signage_${site}/`)) return;
    heard.push([topic, payload.toString()]);
    if (payload.length === 0) kept.delete(topic);
    else kept.set(topic, payload.toString());
  });
  await client.subscribeAsync('#');
  const until = (topic: string, payload: string): Promise<void> =>
    expect.poll(() => kept.get(topic), patience).toBe(payload);
  const configs = (): Record<string, Record<string, unknown>> =>
    Object.fromEntries(
      [...kept].flatMap(([topic, text]) =>
        /^homeassistant\/.+\/config$/.test(topic) ? [[topic, JSON.parse(text) as Record<string, unknown>]] : [],
      ),
    );
  return { client, kept, heard, until, configs };
};
