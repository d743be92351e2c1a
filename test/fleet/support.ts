/** Sites of a fleet, and what the head office asks of them. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, vi } from 'vitest';
import type { FleetContent, FleetHealth } from '../../service/contract/fleet.ts';
import { lobbyWith } from '../content/samples.ts';
import type { Hub } from '../support/nats.ts';
import { patience, titlesOf } from '../support/observe.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

interface Health {
  fleet?: FleetHealth;
  status: string;
  warnings: string[];
  nodeId: string;
}

/** Content with one slide of that title. */
export const saying = (title: string) => lobbyWith([{ kind: 'text', title }]);

/** The path of a file with the document. */
export const fileOf = (document: unknown): string => {
  const path = join(temporaryFolder(), 'content.json');
  writeFileSync(path, JSON.stringify(document));
  return path;
};

/** Waits until a box plays {@link saying}. */
export const plays = (service: TestService, title: string) =>
  expect.poll(() => titlesOf(service).catch(() => null), patience).toEqual([title]);

export const healthOf = async (service: TestService): Promise<Health> =>
  (await (await service.get('/healthz')).json()) as Health;

/** Waits until the box says that its fleet is so. */
export const becomes = (service: TestService, expected: object): Promise<void> =>
  vi.waitFor(async () => expect((await healthOf(service)).fleet).toMatchObject(expected), patience);

/** Starts a box with the credentials of its site, which is connected to the hub. */
export const startMember = async (
  hub: Pick<Hub, 'url' | 'credentials'>,
  setup: NonNullable<Parameters<typeof startTestService>[0]> = {},
  onEnd?: Parameters<typeof startTestService>[1],
): Promise<TestService> => {
  const given = setup.env?.SIGNAGE_FLEET_CREDENTIALS;
  const credentials = given ?? (await hub.credentials(setup.env?.SIGNAGE_SITE ?? 'default'));
  const env = { SIGNAGE_FLEET_URL: hub.url, SIGNAGE_FLEET_CREDENTIALS: credentials, ...setup.env };
  const service = await startTestService({ ...setup, env }, onEnd);
  await becomes(service, { status: 'connected' });
  return service;
};

/** Publishes with a reply as the head office does; resolves with the answer. @throws Error if there is none in time */
export const ask = (nats: NatsConnection, subject: string, body: string, timeout = 10_000) =>
  new Promise<Record<string, unknown>>((resolve, reject) => {
    const reply = `signage.${subject.split('.')[1]}.answer.${randomUUID()}`;
    nats.subscribe(reply, {
      max: 1,
      timeout,
      callback: (error, message) => {
        if (error !== null) reject(error);
        else if (message.headers?.code === 503) reject(new Error('no responders'));
        else resolve(message.json());
      },
    });
    nats.publish(subject, body, { reply });
  });

let commands = 0;

/** Asks a site for a command; resolves with its answer. */
export const command = (
  nats: NatsConnection,
  subject: string,
  body: Record<string, unknown>,
  timeout = 10_000,
): Promise<Record<string, unknown>> => {
  commands += 1;
  const [, site, , target] = subject.split('.');
  const message = { id: `test-${commands}`, site, target, expiresAt: Date.now() + 30_000, ...body };
  return ask(nats, subject, JSON.stringify(message), timeout);
};

export interface Push {
  id?: string;
  at?: Date;
}

/** Stores a document for a site, as the head office does. @returns the id of the push */
export const want = async (
  nats: NatsConnection,
  site: string,
  document: unknown,
  { id = randomUUID(), at = new Date() }: Push = {},
): Promise<string> => {
  const meta = headers();
  meta.set('Signage-Push', id);
  meta.set('Signage-Pushed-At', at.toISOString());
  const bytes =
    document instanceof Uint8Array
      ? document
      : gzipSync(typeof document === 'string' ? document : JSON.stringify(document));
  await jetstream(nats).publish(`$KV.signage-content.${site}`, bytes, { headers: meta });
  return id;
};

/** The bucket of what boxes and sites report. */
export const statusOf = (nats: NatsConnection): Promise<KV> => new Kvm(jetstream(nats)).open('signage-status');

/** Waits until a site reports so on its content. */
export const reports = (status: KV, site: string, expected: object): Promise<FleetContent> =>
  vi.waitFor(async () => {
    const value = (await status.get(`${site}.content`))?.json<FleetContent>();
    expect(value).toMatchObject(expected);
    return value as FleetContent;
  }, patience);

/**
 * A line to the hub that is slow towards the box; it ends with the test.
 * @param rate bytes a second
 * @returns its URL; and when the wanted content was asked for, by `performance.now()`
 */
export const startSlowLine = async (
  hub: Pick<Hub, 'port'>,
  rate: number,
): Promise<{ url: string; asked: readonly number[] }> => {
  const asked: number[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((box) => {
    const onward = connect(hub.port, '127.0.0.1');
    const ends = [box, onward];
    for (const end of ends) {
      sockets.add(end);
      end
        .on('error', () => undefined)
        .on('close', () => {
          for (const each of ends) each.destroy();
        });
    }
    box.on('data', (bytes: Buffer) => {
      if (bytes.includes('DIRECT.GET.KV_signage-content')) asked.push(performance.now());
      onward.write(bytes);
    });
    onward.on('data', (bytes: Buffer) => {
      onward.pause();
      box.write(bytes);
      setTimeout(() => onward.resume(), (bytes.length / rate) * 1_000);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

interface Stored {
  subject: string;
  id: string | undefined;
  body: Record<string, unknown>;
}

/** Everything in a stream. */
export const readStream = async (nats: NatsConnection, name: string): Promise<Stored[]> => {
  const { streams } = await jetstreamManager(nats, { checkAPI: false });
  const { first_seq, last_seq } = (await streams.info(name)).state;
  const numbers = Array.from({ length: Math.max(0, last_seq - first_seq + 1) }, (_, n) => first_seq + n);
  const messages = await Promise.all(numbers.map((seq) => streams.getMessage(name, { seq })));
  return messages.flatMap((message) => {
    if (message === null) return [];
    return [{ subject: message.subject, id: message.header.get('Nats-Msg-Id'), body: message.json() }];
  });
};
