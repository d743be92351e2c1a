/** Sites of a fleet, and what the hub asks of them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { jetstream } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, vi } from 'vitest';
import type { FleetContent, FleetHealth } from '../../service/contract/fleet.ts';
import { lobbyWith } from '../content/samples.ts';
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

/** Starts a box that is connected to a prepared hub. */
export const startMember = async (
  hub: { url: string },
  setup: NonNullable<Parameters<typeof startTestService>[0]> = {},
): Promise<TestService> => {
  const service = await startTestService({ ...setup, env: { SIGNAGE_FLEET_URL: hub.url, ...setup.env } });
  await becomes(service, { status: 'connected' });
  return service;
};

let commands = 0;

/** Asks a site for a command; resolves with its answer. */
export const command = async (
  nats: NatsConnection,
  subject: string,
  body: Record<string, unknown>,
  timeout = 10_000,
): Promise<Record<string, unknown>> => {
  commands += 1;
  const message = { id: `test-${commands}`, expiresAt: Date.now() + 30_000, ...body };
  return (await nats.request(subject, JSON.stringify(message), { timeout })).json();
};

/** Puts a document into the bucket, as the hub does. */
export const want = (content: KV, site: string, document: unknown): Promise<number> =>
  content.put(site, gzipSync(typeof document === 'string' ? document : JSON.stringify(document)));

/** Waits until a site reports so on its content. */
export const reports = (status: KV, site: string, expected: object): Promise<FleetContent> =>
  vi.waitFor(async () => {
    const value = (await status.get(`${site}.content`))?.json<FleetContent>();
    expect(value).toMatchObject(expected);
    return value as FleetContent;
  }, patience);

interface Stored {
  subject: string;
  id: string | undefined;
  body: Record<string, unknown>;
}

/** Everything in a stream. */
export const readStream = async (nats: NatsConnection, name: string): Promise<Stored[]> => {
  const consumer = await jetstream(nats).consumers.get(name);
  const stored: Stored[] = [];
  for await (const message of await consumer.fetch({ max_messages: 1_000, expires: 1_000 })) {
    const { subject, headers } = message;
    stored.push({ subject, id: headers?.get('Nats-Msg-Id'), body: message.json() });
  }
  return stored;
};
