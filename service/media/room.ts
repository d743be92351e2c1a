import { readdir, stat, statfs as systemStatfs } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '../errors.ts';
import { requireSpace, spareOf, type Volume } from './space.ts';

const MIB = 1024 ** 2;

interface Options {
  /** What fills the quota, folders in them not included. */
  folders: readonly string[];
  /** Most bytes in the folders together. */
  quota: number;
  /** Frees so many bytes, or as many as can be. */
  makeWay(bytes: number): Promise<void>;
  statfs?: (path: string) => Promise<Volume>;
}

/** Bytes in a folder; what is gone meanwhile, or was never there, takes none. */
const bytesIn = async (folder: string): Promise<number> => {
  const names = await readdir(folder).catch((): string[] => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (stats) => (stats.isFile() ? stats.size : 0),
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};

/**
 * The room that media may take: a quota, and what the disk has above its floor. It is measured and not kept count of,
 * because files come and go by hand too.
 */
export const createRoom = ({ folders, quota, makeWay, statfs = systemStatfs }: Options) => {
  /** Bytes that are left of the quota; negative where there are more than it allows. */
  const left = async (): Promise<number> => {
    const used = await Promise.all(folders.map(bytesIn));
    return quota - used.reduce((sum, bytes) => sum + bytes, 0);
  };

  return {
    quota,
    left,
    /**
     * Sees to it that a folder can take so many bytes more, of which so many take the place of others.
     *
     * @throws `insufficient_storage`
     */
    async require(folder: string, wanted: number, replaced = 0): Promise<void> {
      const spares = async () => [spareOf(await statfs(folder)), (await left()) + replaced] as const;
      const short = wanted - Math.min(...(await spares()));
      if (short <= 0) return;
      await makeWay(short);
      requireSpace(await statfs(folder), wanted);
      const spare = (await left()) + replaced;
      if (spare >= wanted) return;
      const room = `there is room for ${Math.max(0, Math.floor(spare / MIB))} MiB of ${Math.floor(quota / MIB)} MiB`;
      const message = `Media have used up their quota: ${room}. Delete files, or raise SIGNAGE_MEDIA_QUOTA_BYTES.`;
      throw new CodedError('insufficient_storage', message);
    },
  };
};
