import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '../contract/errors.ts';
import { isMissing } from '../platform/store/disk.ts';
import { makeFolder } from '../platform/store/file.ts';
import type { MediaContext } from './context.ts';

/** The fields of `statfs` that are used here. */
export interface Volume {
  /** Free blocks available to an unprivileged user. */
  bavail: number;
  blocks: number;
  /** Block size in bytes. */
  bsize: number;
}

const MIB = 1024 ** 2;

/**
 * The bytes of a volume that media may still use; negative if the reserve is already in use. max(512 MiB, 5 %) of the
 * volume stay free for the service's own state, but at most half of a small volume.
 */
export const spareOf = ({ bavail, blocks, bsize }: Volume): number =>
  bavail * bsize - Math.min(Math.max(512 * MIB, 0.05 * blocks * bsize), 0.5 * blocks * bsize);

/** What the next release of a box from an image takes: a whole system. */
const SYSTEM_BYTES = 1024 * MIB;

/** Where files are, and what the host tells of itself. */
interface Box {
  dirs: Pick<MediaContext['dirs'], 'data'>;
  kiosk?: MediaContext['kiosk'];
}

/** The bytes of the files in the folder of downloaded releases; the next one takes their place. */
const bytesOfReady = async (dataDir: string): Promise<number> => {
  const folder = join(dataDir, 'updates', 'ready');
  const names = await readdir(folder).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

/**
 * The volume of a folder, as media may use it: on a box from an image room is kept for its next system.
 * @throws the system's error
 */
export const readVolume = async ({ dirs, kiosk }: Box, folder: string): Promise<Volume> => {
  const { bavail, blocks, bsize } = await statfs(folder);
  if (kiosk?.().system == null) return { bavail, blocks, bsize };
  const kept = Math.max(0, SYSTEM_BYTES - (await bytesOfReady(dirs.data)));
  return { bavail: bavail - kept / bsize, blocks, bsize };
};

/**
 * @param wanted bytes still to be written
 * @throws `insufficient_storage`
 */
export const requireSpace = (volume: Volume, wanted: number): void => {
  const spare = spareOf(volume);
  if (spare >= wanted) return;
  const room = Math.max(0, Math.floor(spare / MIB));
  throw new CodedError('insufficient_storage', `The disk is full: there is room for ${room} MiB of media.`);
};

/**
 * The space for media: limited by the quota, and by the disk minus its reserve.
 * @param evict frees up to `bytes` bytes
 */
export const createStorageQuota = (
  context: Box & {
    folders: Pick<MediaContext['folders'], 'bytes'>;
    options: { mediaQuotaBytes: number };
  },
  evict: (bytes: number) => Promise<void>,
  volumeAt = (folder: string): Promise<Volume> => readVolume(context, folder),
) => {
  const { folders, options } = context;
  const quota = options.mediaQuotaBytes;
  /** The unused bytes of the quota; negative if the files exceed it. */
  const left = async (): Promise<number> => quota - (await folders.bytes());
  /** Of a folder, which is made again where somebody has removed it by hand. */
  const volumeOf = (folder: string): Promise<Volume> =>
    volumeAt(folder).catch(async (error: unknown) => {
      if (!isMissing(error)) throw error;
      await makeFolder(folder);
      return volumeAt(folder);
    });

  return {
    quota,
    left,
    /** Ensures that the disk of a folder has room for bytes that the quota does not count. @throws `insufficient_storage` */
    async requireDisk(folder: string, wanted: number): Promise<void> {
      const short = wanted - spareOf(await volumeOf(folder));
      if (short > 0) await evict(short);
      requireSpace(await volumeOf(folder), wanted);
    },
    /**
     * Ensures that a folder has room for `wanted` bytes, `replaced` of which overwrite existing files. Bytes that lie on the
     * disk already, uncounted, are subtracted from both.
     *
     * @throws `insufficient_storage`
     */
    async require(folder: string, wanted: number, replaced = 0): Promise<void> {
      const spares = async () => [spareOf(await volumeOf(folder)), (await left()) + replaced] as const;
      const short = wanted - Math.min(...(await spares()));
      if (short <= 0) return;
      await evict(short);
      requireSpace(await volumeOf(folder), wanted);
      const spare = (await left()) + replaced;
      if (spare >= wanted) return;
      const room = `there is room for ${Math.max(0, Math.floor(spare / MIB))} MiB of ${Math.floor(quota / MIB)} MiB`;
      const message = `Media have used up their quota: ${room}. Delete files, or raise SIGNAGE_MEDIA_QUOTA_BYTES.`;
      throw new CodedError('insufficient_storage', message);
    },
  };
};
export type StorageQuota = ReturnType<typeof createStorageQuota>;
