/** Opens the data directory: its lock, the room that is set aside for the state, and the id of the box with its devices and time zone. */
import { join } from 'node:path';
import type { Ports } from './context.ts';
import { createStore } from './devices/index.ts';
import { checkAddress } from './http/server.ts';
import type { Closers } from './platform/closers.ts';
import { isTimeZone, makeFolders, type Options } from './platform/options/index.ts';
import { systemDisk } from './platform/store/disk.ts';
import { lockFolder } from './platform/store/lock.ts';
import { createReserve, reserveFile } from './platform/store/reserve.ts';

/** @throws as `startService` does */
export const openData = async (options: Options, { log, reserveBytes: bytes, now }: Ports, { lasting }: Closers) => {
  const { dataDir, childEnvironment: environment } = options;
  // A bad setting ends the start with one line, so nothing is logged before these checks.
  await checkAddress(options.host);
  await makeFolders(options);
  for (const warning of options.warnings) log.warn(warning);
  const lock = lasting(await lockFolder({ dataDir, environment, log }));
  const reserve = lasting(createReserve({ path: join(dataDir, reserveFile), disk: systemDisk, log, bytes }));
  reserve.hold();
  const { devices, ...own } = lasting(await createStore({ dataDir, log, reserve, ...(now && { now }) }));
  const { timeZone } = own;
  const isTold = timeZone !== null && isTimeZone(timeZone) && options.lacksTimeZone;
  return {
    lock,
    reserve,
    own,
    stored: devices,
    options: isTold ? { ...options, timeZone, toldTimeZone: timeZone, lacksTimeZone: false } : options,
  };
};
