/** The store of the devices as the service opens it: with room on the disk that is set aside for it. */
import { join } from 'node:path';
import { pino } from 'pino';
import { createStore, type Store } from '../../service/devices/store.ts';
import { systemDisk } from '../../service/platform/store/disk.ts';
import { createReserve } from '../../service/platform/store/reserve.ts';

export const openStore = async ({ dataDir, now }: { dataDir: string; now?: () => number }): Promise<Store> => {
  const log = pino({ level: 'silent' });
  const reserve = createReserve({ path: join(dataDir, 'state.reserve'), disk: systemDisk, log });
  const store = await createStore({ dataDir, log, reserve, ...(now && { now }) });
  reserve.hold();
  return {
    ...store,
    faults: () => [...store.faults(), ...reserve.faults()],
    close: async () => {
      await store.close();
      await reserve.close();
    },
  };
};
