import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { imageSize } from 'image-size';
import { judgeType, SIGNATURE_BYTES } from '../domain/media-types.ts';
import { type Budget, createBudget, createReader, type ReadAt } from './budget.ts';
import { fingerprint } from './fingerprint.ts';
import { matroskaFacts } from './matroska.ts';
import { movieFacts } from './mp4.ts';
import { mp3Duration, oggDuration } from './sound.ts';

/** What a file is, as far as its first bytes and its index tell. */
export interface Facts {
  fingerprint: string;
  /** Bytes. */
  size: number;
  mediaType: string;
  /** Pixels, as shown. */
  width: number | null;
  height: number | null;
  /** Seconds. */
  duration: number | null;
}

/** Photographs carry previews and colour profiles in front of their size. */
const JPEG_HEAD_BYTES = 512 * 1024;
/** Of any other picture: image-size takes quadratic time for some of them. */
const IMAGE_HEAD_BYTES = 64 * 1024;

/** Matroska's headers, and an MP3's first frame, which may stand behind a picture of its cover. */
const SOUND_HEAD_BYTES = 1024 ** 2;
/** An Ogg page has at most 65,307 bytes. */
const SOUND_TAIL_BYTES = 128 * 1024;

const readSignature = (handle: FileHandle): Promise<Buffer> => createReader(handle, createBudget())(0, SIGNATURE_BYTES);

/** The first bytes of a file, as many as tell its type. */
export const headOf = async (path: string): Promise<Buffer> => {
  const handle = await open(path);
  try {
    return await readSignature(handle);
  } finally {
    await handle.close();
  }
};

/** The media type that a file of this name goes out under; see {@link judgeType}. */
export const typeOfFile = async (handle: FileHandle, name: string): Promise<string> =>
  judgeType(name, await readSignature(handle));

const imageFacts = (head: Buffer): { width: number; height: number } | null => {
  try {
    const { width, height, orientation = 1 } = imageSize(head);
    // Exif: from 5 on, the picture lies on its side.
    return orientation < 5 ? { width, height } : { width: height, height: width };
  } catch {
    return null;
  }
};

interface Opened {
  mediaType: string;
  /** Bytes. */
  size: number;
  budget: Budget;
  readAt: ReadAt;
}

/** What films and sound say of themselves, by their containers. */
const movingFacts = async ({ mediaType, size, budget, readAt }: Opened): Promise<Partial<Facts> | null> => {
  if (/\/(?:mp4|quicktime|3gpp)$/.test(mediaType)) return movieFacts(readAt, size);
  if (!/\/(?:webm|matroska|ogg|mpeg)$/.test(mediaType)) return null;
  const head = await readAt(0, Math.min(SOUND_HEAD_BYTES, size));
  if (/\/(?:webm|matroska)$/.test(mediaType)) return matroskaFacts(head, budget);
  if (mediaType === 'audio/mpeg') return { duration: mp3Duration(head, size) };
  if (mediaType !== 'audio/ogg') return null;
  return { duration: oggDuration(head, await readAt(Math.max(0, size - SOUND_TAIL_BYTES), SOUND_TAIL_BYTES)) };
};

/** Looks into a file, which may hold anything, under the name that it has or is to have. */
export const inspect = async (path: string, name: string): Promise<Facts> => {
  const handle = await open(path);
  try {
    const stats = await handle.stat();
    const { size } = stats;
    const budget = createBudget();
    const readAt = createReader(handle, budget);
    const mediaType = judgeType(name, await readAt(0, SIGNATURE_BYTES));
    const facts = { fingerprint: fingerprint(stats), size, mediaType, width: null, height: null, duration: null };
    if (mediaType.startsWith('image/')) {
      const length = mediaType === 'image/jpeg' ? JPEG_HEAD_BYTES : IMAGE_HEAD_BYTES;
      return { ...facts, ...imageFacts(await readAt(0, length)) };
    }
    return { ...facts, ...(await movingFacts({ mediaType, size, budget, readAt })) };
  } finally {
    await handle.close();
  }
};
