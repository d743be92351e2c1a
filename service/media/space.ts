import { CodedError } from '../errors.ts';

/** The part of `statfs` that counts here. */
export interface Volume {
  /** Blocks that are free to an ordinary user. */
  bavail: number;
  blocks: number;
  /** Bytes in a block. */
  bsize: number;
}

const MIB = 1024 ** 2;

/**
 * Uploads leave max(512 MiB, 5 %) of a volume free, so that the service's own state always has room. A volume smaller
 * than that takes none.
 *
 * @param wanted bytes still to be written
 * @throws `insufficient_storage`
 */
export const requireSpace = ({ bavail, blocks, bsize }: Volume, wanted: number): void => {
  const spare = bavail * bsize - Math.max(512 * MIB, 0.05 * blocks * bsize);
  if (spare >= wanted) return;
  const room = Math.max(0, Math.floor(spare / MIB));
  throw new CodedError('insufficient_storage', `The disk is full: there is room for ${room} MiB of uploads.`);
};
