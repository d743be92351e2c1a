import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { mostBindings } from '../contract/peers.ts';
import { type Clock, systemClock } from '../domain/time.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable, type Writes } from '../platform/store/durable.ts';
import { makeFolder } from '../platform/store/folder.ts';
import type { Reserve } from '../platform/store/reserve.ts';
import { createDevices, type Devices, deviceMap, readableDevices } from './devices.ts';

/** The state of a box, in one durable file. */
export interface Store {
  /** Generated at the first start and kept, unless another box turns out to have it. */
  readonly nodeId: string;
  readonly devices: Devices;
  /** Gives the box a new id, which it has from the next start on; resolves when that is durable. */
  renewId(): Promise<void>;
  /** One sentence per issue that needs attention; for `/healthz`. */
  faults(): string[];
  writes(): Writes;
  /** Resolves when every write in progress is settled. */
  close(): Promise<void>;
}

interface Options {
  /** Created if it does not exist. */
  dataDir: string;
  log: Pick<Logger, 'warn' | 'error'>;
  reserve: Pick<Reserve, 'release'>;
  now?: Clock['now'];
}

// Fields that a newer version added are kept.
const schema = z.looseObject({ nodeId: z.uuid(), devices: deviceMap });

/** Reads what it can of a newer version's state: at least the node id, so that the box keeps its identity. */
const salvage = (body: unknown): z.output<typeof schema> | null => {
  const { nodeId, devices, ...rest } = (body ?? {}) as Record<string, unknown>;
  const id = z.uuid().safeParse(nodeId).data ?? randomUUID();
  return schema.safeParse({ ...rest, nodeId: id, devices: readableDevices(devices) }).data ?? null;
};

/**
 * Opens the store in `dataDir`: `state.json`, with `.prev` and `.corrupt-*`.
 *
 * @throws the system's error if the folder can't be created or read
 */
export async function createStore({ dataDir, log, reserve, now = systemClock.now }: Options): Promise<Store> {
  await makeFolder(dataDir);
  const durable = await createDurable({
    path: join(dataDir, 'state.json'),
    schema,
    salvage,
    initial: { nodeId: randomUUID(), devices: new Map() },
    reserve,
    log,
    disk: systemDisk,
    now,
  });

  const crowding = (): string[] =>
    [...durable.read().devices.values()].filter(({ forgotten }) => !forgotten).length < mostBindings
      ? []
      : [`${mostBindings} devices are known, which is the limit: each new device replaces one that was never seen`];

  return {
    nodeId: durable.read().nodeId,
    devices: createDevices(durable, now),
    renewId: async () => void (await durable.update((state) => ({ ...state, nodeId: randomUUID() }))),
    faults: () => [...durable.faults(), ...crowding()],
    writes: durable.writes,
    close: durable.close,
  };
}
