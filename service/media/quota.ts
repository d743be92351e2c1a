import { statfs as systemStatfs } from 'node:fs/promises';
import { CodedError } from '../contract/errors.ts';
import type { Folders } from './folders.ts';
import { requireSpace, spareOf, type Volume } from './space.ts';

const MIB = 1024 ** 2;

interface Options {
  /** What fills the quota. */
  folders: Pick<Folders, 'bytes'>;
  /** Most bytes in the folders together. */
  quota: number;
  /** Frees so many bytes, or as many as can be. */
  makeWay(bytes: number): Promise<void>;
  statfs?: (path: string) => Promise<Volume>;
}

/** The room that media may take: a quota, and what the disk has above its floor. */
export const createRoom = ({ folders, quota, makeWay, statfs = systemStatfs }: Options) => {
  /** Bytes that are left of the quota; negative where there are more than it allows. */
  const left = async (): Promise<number> => quota - (await folders.bytes());

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
