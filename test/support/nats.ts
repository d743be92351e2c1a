/** A real nats-server with JetStream, on a port and a store of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { type ConnectionOptions, connect, type NatsConnection } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';
import { freePort, untilListening } from './ports.ts';
import { findProgram } from './program.ts';
import { temporaryFolder } from './service.ts';

// Debian keeps it where only root looks.
const found = findProgram('nats-server') ?? ['/usr/sbin/nats-server'].find(existsSync);
/** CI must not pass without it. */
export const hasNats = found !== undefined || process.env.CI === 'true';
export const natsProgram = found ?? 'nats-server';

type OnEnd = (end: () => void | Promise<void>) => void;

interface HubSetup {
  /** Further lines of its configuration. */
  config?: string;
  /** A leaf node has no JetStream of its own. Default: true */
  hasJetStream?: boolean;
  /** Of its configuration, against which `include` is resolved. */
  folder?: string;
}

export interface Hub {
  port: number;
  url: string;
  /** Starts it, again after {@link Hub.kill}: on the same port, with the same store unless one is given. */
  start(store?: string): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Reads its configuration again. */
  reload(): void;
  /** A client of the hub, which is closed with the test. */
  client(options?: ConnectionOptions): Promise<NatsConnection>;
}

/** Starts a hub that ends with the test. */
export const startHub = async (
  { config = '', hasJetStream = true, folder: givenFolder }: HubSetup = {},
  onEnd: OnEnd = onTestFinished,
): Promise<Hub> => {
  const folder = givenFolder ?? temporaryFolder(onEnd);
  const port = await freePort();
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const start = async (store = join(folder, 'store')): Promise<void> => {
    const path = join(folder, 'nats.conf');
    const storage = hasJetStream ? `jetstream { store_dir: ${JSON.stringify(store)}, domain: hub }\n` : '';
    writeFileSync(path, `listen: "127.0.0.1:${port}"\n${storage}${config}`);
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
    reload: () => void child?.kill('SIGHUP'),
    client: async (options = {}) => {
      const nats = await connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 50, ...options });
      onEnd(() => nats.close());
      return nats;
    },
  };
};

/** Makes the buckets and streams, as `signage fleet init` does. */
export const prepareHub = async (nats: NatsConnection): Promise<{ content: KV; status: KV }> => {
  const buckets = new Kvm(jetstream(nats));
  const content = await buckets.create('signage-content');
  const status = await buckets.create('signage-status');
  const manager = await jetstreamManager(nats);
  for (const kind of ['plays', 'alerts']) {
    await manager.streams.add({ name: `signage-${kind}`, subjects: [`signage.*.${kind}`] });
  }
  return { content, status };
};
