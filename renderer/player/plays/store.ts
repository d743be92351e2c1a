/**
 * Plays that the service has not acknowledged, in IndexedDB: unlike localStorage it has room for thousands, takes records
 * one by one, and writes each within moments. Where a browser refuses it, plays are kept in memory.
 */
import type { PagePlay } from '../../../service/contract/plays.ts';

/** Plays that are kept; the oldest are dropped first. */
export const MAX_KEPT = 10_000;

/** A play under way, of the page in a browser tab. */
export interface Note {
  play: PagePlay;
  /** The same for the pages that a tab opens one after the other. */
  tab: string;
}

export interface PlayStore {
  /** Keeps a play that has ended, and forgets its note. @returns how many plays were dropped for it */
  add(play: PagePlay): Promise<number>;
  oldest(count: number): Promise<PagePlay[]>;
  remove(playIds: readonly string[]): Promise<void>;
  /** Keeps a play that is under way, in place of what was noted of it before. */
  note(note: Note): Promise<void>;
  notes(): Promise<Note[]>;
}

const done = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the database does not answer'));
  });

const committed = (transaction: IDBTransaction): Promise<void> => {
  const end = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('the database does not answer'));
  });
  // A request that fails rejects by itself, before anybody waits for the transaction.
  end.catch(() => {});
  return end;
};

const openDatabase = async (): Promise<IDBDatabase> => {
  const request = indexedDB.open('signage.plays', 1);
  request.onupgradeneeded = () => {
    // In the order in which they ended; a play is found by its id.
    request.result.createObjectStore('ended', { autoIncrement: true }).createIndex('play', 'play_id', { unique: true });
    request.result.createObjectStore('underWay', { keyPath: 'play.play_id' });
  };
  return done(request);
};

const createIndexedStore = (database: IDBDatabase): PlayStore => {
  const write = () => {
    const transaction = database.transaction(['ended', 'underWay'], 'readwrite');
    return {
      ended: transaction.objectStore('ended'),
      underWay: transaction.objectStore('underWay'),
      committed: committed(transaction),
    };
  };
  const read = (name: 'ended' | 'underWay') => database.transaction(name).objectStore(name);

  return {
    add: async (play) => {
      const { ended, underWay, committed: written } = write();
      underWay.delete(play.play_id);
      // One that exists already was noted by two pages.
      if ((await done(ended.index('play').getKey(play.play_id))) === undefined) ended.add(play);
      const surplus = Math.max(0, (await done(ended.count())) - MAX_KEPT);
      if (surplus > 0) for (const key of await done(ended.getAllKeys(null, surplus))) ended.delete(key);
      await written;
      return surplus;
    },
    oldest: async (count) => done(read('ended').getAll(null, count) as IDBRequest<PagePlay[]>),
    remove: async (playIds) => {
      const { ended, committed: written } = write();
      const index = ended.index('play');
      for (const id of playIds) {
        const key = await done(index.getKey(id));
        if (key !== undefined) ended.delete(key);
      }
      await written;
    },
    note: async (note) => {
      const { underWay, committed: written } = write();
      underWay.put(note);
      await written;
    },
    notes: async () => done(read('underWay').getAll() as IDBRequest<Note[]>),
  };
};

const createMemoryStore = (): PlayStore => {
  let plays: PagePlay[] = [];
  return {
    add: async (play) => {
      plays.push(play);
      return plays.splice(0, plays.length - MAX_KEPT).length;
    },
    oldest: async (count) => plays.slice(0, count),
    remove: async (playIds) => {
      plays = plays.filter(({ play_id }) => !playIds.includes(play_id));
    },
    note: async () => {},
    notes: async () => [],
  };
};

/** The plays that are kept. A database that refuses a write, as on a full disk, is replaced by the page's memory. */
export const createPlayStore = (): PlayStore => {
  const memory = createMemoryStore();
  let opening: Promise<PlayStore> | null = null;
  const open = (): Promise<PlayStore> => {
    opening ??= openDatabase().then(
      (database) => {
        // By the browser, as where the disk is full.
        database.onclose = () => {
          opening = null;
        };
        return createIndexedStore(database);
      },
      () => {
        opening = null;
        return memory;
      },
    );
    return opening;
  };
  return {
    add: async (play) => (await open()).add(play).catch(() => memory.add(play)),
    oldest: async (count) => {
      const inMemory = await memory.oldest(count);
      if (inMemory.length > 0) return inMemory;
      return (await open()).oldest(count);
    },
    remove: async (playIds) => {
      await memory.remove(playIds);
      await (await open()).remove(playIds);
    },
    note: async (note) => (await open()).note(note).catch(() => {}),
    notes: async () => (await open()).notes().catch(() => []),
  };
};
