import { statfs as systemStatfs } from 'node:fs/promises';
import { CodedError } from '../contract/errors.ts';
import type { Folders } from './folders.ts';
import { requireSpace, spareOf, type Volume } from './space.ts';

const MIB = 1024 ** 2;

interface Options {
  /** The folders whose files count towards the quota. */
  folders: Pick<Folders, 'bytes'>;
  /** The maximum total size of the folders, in bytes. */
  quota: number;
  /** Frees up to `bytes` bytes. */
  evict(bytes: number): Promise<void>;
  statfs?: (path: string) => Promise<Volume>;
}

/** The space for media: limited by the quota, and by the disk minus its reserve. */
export const createStorageQuota = ({ folders, quota, evict, statfs = systemStatfs }: Options) => {
  /** The unused bytes of the quota; negative if the files exceed it. */
  const left = async (): Promise<number> => quota - (await folders.bytes());

  return {
    quota,
    left,
    /**
     * Ensures that a folder has room for `wanted` bytes, `replaced` of which overwrite existing files.
     *
     * @throws `insufficient_storage`
     */
    async require(folder: string, wanted: number, replaced = 0): Promise<void> {
      const spares = async () => [spareOf(await statfs(folder)), (await left()) + replaced] as const;
      const short = wanted - Math.min(...(await spares()));
      if (short <= 0) return;
      await evict(short);
      requireSpace(await statfs(folder), wanted);
      const spare = (await left()) + replaced;
      if (spare >= wanted) return;
      const room = `there is room for ${Math.max(0, Math.floor(spare / MIB))} MiB of ${Math.floor(quota / MIB)} MiB`;
      const message = `Media have used up their quota: ${room}. Delete files, or raise SIGNAGE_MEDIA_QUOTA_BYTES.`;
      throw new CodedError('insufficient_storage', message);
    },
  };
};
