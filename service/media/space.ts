import { CodedError } from '../contract/errors.ts';

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
 * The bytes that media may still take of a volume; negative where it has too little left. max(512 MiB, 5 %) of it stay
 * free, so that the service's own state always has room; of a tiny one, half.
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
