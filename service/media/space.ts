import { CodedError } from '../contract/errors.ts';

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
