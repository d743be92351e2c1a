import type { FileHandle } from 'node:fs/promises';

/** What headers are read from. */
export type Source = Pick<FileHandle, 'read'>;

/** @returns shorter at the end of the file */
export const readAt = async (source: Source, offset: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await source.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
};

/** What the header of a picture tells. */
export interface PictureHeader {
  /** Pixels as stored; null: not known. */
  width: number | null;
  height: number | null;
  /** How it is turned to be upright (Exif), 1 to 8. */
  orientation: number;
  isCmyk: boolean;
  isAnimated: boolean;
  /** Its colour profile (ICC.1:2022); null: it has none, or a longer one than {@link MAX_PROFILE_BYTES}. */
  icc: Buffer | null;
}

export const unknownHeader: PictureHeader = {
  width: null,
  height: null,
  orientation: 1,
  isCmyk: false,
  isAnimated: false,
  icc: null,
};

/** Profiles of tables, which printers need, are larger. */
export const MAX_PROFILE_BYTES = 256 * 1024;
