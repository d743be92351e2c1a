import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { mostBindings } from '../contract/peers.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable } from '../platform/store/durable.ts';
import { makeFolder } from '../platform/store/folder.ts';
import { createReserve } from '../platform/store/reserve.ts';
import { createDevices, type Devices, deviceMap, readableDevices } from './devices.ts';

/** What a box knows of itself, in one durable file. */
export interface Store {
  /** Made at the first start, the same ever after. */
  readonly nodeId: string;
  readonly devices: Devices;
  /** One sentence for each thing that somebody should see to; for `/healthz`. */
  faults(): string[];
  /** Resolves when every write under way is settled. */
  close(): Promise<void>;
}

interface Options {
  /** Made where it isn't there. */
  dataDir: string;
  log: Pick<Logger, 'warn' | 'error'>;
  /** ms since the epoch */
  now?: () => number;
}

// What a newer version added is kept as it is.
const schema = z.looseObject({ nodeId: z.uuid(), devices: deviceMap });

/** What can be read of a newer version's state: at the least, a box stays the one that it is. */
const salvage = (body: unknown): z.output<typeof schema> | null => {
  const { nodeId, devices, ...rest } = (body ?? {}) as Record<string, unknown>;
  const id = z.uuid().safeParse(nodeId).data ?? randomUUID();
  return schema.safeParse({ ...rest, nodeId: id, devices: readableDevices(devices) }).data ?? null;
};

/** How often a reserve that was used up is tried for again, in ms. */
const reserveInterval = 60_000;

/**
 * Opens the store in `dataDir`: `state.json`, with `.prev` and `.corrupt-*` beside it, and the reserve.
 *
 * @throws the system's error where the folder can't be made or read
 */
export async function createStore({ dataDir, log, now = Date.now }: Options): Promise<Store> {
  await makeFolder(dataDir);
  const reserve = createReserve({ path: join(dataDir, 'state.reserve'), disk: systemDisk, log });
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

  let taking = reserve.take();
  const timer = setInterval(() => {
    taking = reserve.take();
  }, reserveInterval);
  timer.unref();

  const crowding = (): string[] =>
    durable.read().devices.size < mostBindings
      ? []
      : [
          `${mostBindings} devices are known, as many as may be: for each new one, one that was never seen is forgotten`,
        ];

  return {
    nodeId: durable.read().nodeId,
    devices: createDevices(durable, now),
    faults: () => [...durable.faults(), ...reserve.faults(), ...crowding()],
    async close() {
      clearInterval(timer);
      await durable.close();
      await taking;
    },
  };
}
