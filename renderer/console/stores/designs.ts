/** The designs of the box, loaded once by the first page that needs them. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { Design, DesignList } from '../../../service/contract/console/designs.ts';
import type { Client } from '../api/client.ts';

export type Designs = ReturnType<typeof createDesigns>;

export const createDesigns = (client: Pick<Client, 'json'>) => {
  const list = signal<readonly Design[]>([]);
  let running: Promise<void> | null = null;
  const fetchList = async (): Promise<void> => {
    try {
      list.value = (await client.json<DesignList>('/console/api/designs')).designs;
    } catch {
      // The next page that needs them asks again.
      running = null;
    }
  };
  return {
    /** Empty until they are loaded. */
    list: list as ReadonlySignal<readonly Design[]>,
    load: (): Promise<void> => {
      running ??= fetchList();
      return running;
    },
  };
};
