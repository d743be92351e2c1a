import type { FileHandle } from 'node:fs/promises';
import { imageSize } from 'image-size';
import { movieFacts } from './mp4.ts';
import { judgeType, signatureBytes } from './types.ts';

/** What a file is, as far as its first bytes and its index of boxes tell. */
export interface Facts {
  mediaType: string;
  /** Pixels, as shown. */
  width: number | null;
  height: number | null;
  /** Seconds. */
  duration: number | null;
}

/** Photographs carry previews and colour profiles in front of their size. */
const imageHeadBytes = 512 * 1024;

const readHead = async (handle: FileHandle, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
  return buffer.subarray(0, bytesRead);
};

/** The media type that a file of this name goes out under; see {@link judgeType}. */
export const typeOfFile = async (handle: FileHandle, name: string): Promise<string> =>
  judgeType(name, await readHead(handle, signatureBytes));

const imageFacts = (head: Buffer): Pick<Facts, 'width' | 'height'> => {
  try {
    const { width, height, orientation = 1 } = imageSize(head);
    // Exif: from 5 on, the picture lies on its side.
    return orientation < 5 ? { width, height } : { width: height, height: width };
  } catch {
    return { width: null, height: null };
  }
};

/** Looks into a file, which may be anything. */
export const inspect = async (handle: FileHandle, name: string): Promise<Facts> => {
  const mediaType = await typeOfFile(handle, name);
  const facts: Facts = { mediaType, width: null, height: null, duration: null };
  if (mediaType.startsWith('image/')) return { ...facts, ...imageFacts(await readHead(handle, imageHeadBytes)) };
  if (/\/(?:mp4|quicktime|3gpp)$/.test(mediaType)) {
    return { ...facts, ...(await movieFacts(handle, (await handle.stat()).size)) };
  }
  return facts;
};
