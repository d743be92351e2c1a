/** The media of the site, loaded where they are needed. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { nextFlight } from '../../../service/domain/single-flight.ts';
import type { Client } from '../api/client.ts';
import type { MediaList } from '../model/wire.ts';

export type MediaStore = ReturnType<typeof createMediaStore>;

export const createMediaStore = (client: Pick<Client, 'json'>) => {
  const list = signal<MediaList | null>(null);
  const error = signal<unknown>(null);
  // What is under way may have been answered before the change that it is loaded for.
  const load = nextFlight<void, void>(async () => {
    try {
      list.value = await client.json<MediaList>('/console/api/media', { timeout: 30_000 });
      error.value = null;
    } catch (reason) {
      error.value = reason;
    }
  });
  return {
    /** Null: not loaded yet. */
    list: list as ReadonlySignal<MediaList | null>,
    error: error as ReadonlySignal<unknown>,
    load,
    /** Whether the box has a file of this name with these bytes. */
    hasFile: async (name: string, sha256: string): Promise<boolean> => {
      if (list.value === null) await load();
      return list.value?.media.some((each) => each.filename === name && each.sha256 === sha256) ?? false;
    },
  };
};
