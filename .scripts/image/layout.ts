/** Where everything lies on the disk. */
import { createHash } from 'node:crypto';

const MIB = 2 ** 20;
export const SECTOR = 512;

export interface Partition {
  number: number;
  name: string;
  /** A GUID, or one of the letters of sfdisk. */
  type: string;
  /** Bytes. */
  start: number;
  size: number;
}

const sizes = [
  ['bios', '21686148-6449-6E6F-744E-656564454649', 1],
  ['efi', 'U', 64],
  // Microsoft basic data, which Windows and macOS mount by themselves.
  ['config', 'EBD0A0A2-B9E5-4433-87C0-68B6B72699C7', 64],
  ['root-a', '4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709', 2048],
  ['root-b', '4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709', 2048],
] as const;

type Name = (typeof sizes)[number][0];

const partitions = Object.fromEntries(
  sizes.map(([name, type, size], index) => {
    const before = sizes.slice(0, index).reduce((sum, [, , each]) => sum + each, 1);
    return [name, { number: index + 1, name, type, start: before * MIB, size: size * MIB }];
  }),
) as Record<Name, Partition>;

const last = partitions['root-b'];

export const layout = {
  partitions,
  /**
   * The first byte of the data, and the size of the file: the second copy of its table lies before it, so that an image that
   * is written over an older one leaves the data as they are. It never changes.
   */
  dataStart: last.start + last.size + MIB,
  dataNumber: last.number + 1,
};

/**
 * A GUID that is the same for the same image, and known as an image's by its middle: the first start makes others.
 * @param seed what tells one image from another
 */
export const guidOf = (seed: string, index: number): string => {
  const hash = createHash('sha256').update(`${seed} ${index}`).digest('hex');
  return `${hash.slice(0, 8)}-0000-4000-8000-${hash.slice(8, 20)}`;
};

/** The table of the disk, as sfdisk reads it. */
export const tableOf = (seed: string): string =>
  [
    'label: gpt',
    `label-id: ${guidOf(seed, 0)}`,
    ...Object.values(partitions).map(
      ({ number, name, type, start, size }) =>
        `start=${start / SECTOR}, size=${size / SECTOR}, type=${type}, name=${name}, uuid=${guidOf(seed, number)}`,
    ),
    '',
  ].join('\n');

/** What the scripts of the box know of it, as a shell reads it. */
export const layoutVariables = (): string =>
  [
    `EFI=${partitions.efi.number}`,
    `CONFIG=${partitions.config.number}`,
    `ROOT_A=${partitions['root-a'].number}`,
    `ROOT_B=${partitions['root-b'].number}`,
    `DATA=${layout.dataNumber}`,
    `DATA_START=${layout.dataStart / SECTOR}`,
    '',
  ].join('\n');

const header = '# GRUB Environment Block\n';
const BLOCK = 1024;

/** A block of GRUB's environment. */
export const environmentBlock = (values: Readonly<Record<string, string>>): string => {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  return `${header}${lines.join('')}`.padEnd(BLOCK, '#');
};
