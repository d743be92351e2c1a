import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { imageSize } from 'image-size';
import { judgeType, SIGNATURE_BYTES } from '../domain/media-types.ts';
import { type Budget, createBudget, createReader, type ReadAt } from './budget.ts';
import { fingerprint } from './fingerprint.ts';
import { matroskaFacts } from './matroska.ts';
import { movieFacts } from './mp4.ts';
import { mp3Duration, oggDuration } from './sound.ts';

/** The properties of a file, read from its first bytes and its index. */
export interface Facts {
  fingerprint: string;
  /** Bytes. */
  size: number;
  mediaType: string;
  /** Pixels, after rotation by the file's orientation. */
  width: number | null;
  height: number | null;
  /** Seconds. */
  duration: number | null;
}

/** JPEG files may carry previews and colour profiles before their dimensions. */
const JPEG_HEAD_BYTES = 512 * 1024;
/** For other images: image-size takes quadratic time for some formats. */
const IMAGE_HEAD_BYTES = 64 * 1024;

/** Covers Matroska headers, and the first MP3 frame, which may follow embedded cover art. */
const SOUND_HEAD_BYTES = 1024 ** 2;
/** An Ogg page has at most 65,307 bytes. */
const SOUND_TAIL_BYTES = 128 * 1024;

const readSignature = (handle: FileHandle): Promise<Buffer> => createReader(handle, createBudget())(0, SIGNATURE_BYTES);

/** The first bytes of a file, enough to detect its type. */
export const headOf = async (path: string): Promise<Buffer> => {
  const handle = await open(path);
  try {
    return await readSignature(handle);
  } finally {
    await handle.close();
  }
};

/** The media type that a file of this name is served with; see {@link judgeType}. */
export const typeOfFile = async (handle: FileHandle, name: string): Promise<string> =>
  judgeType(name, await readSignature(handle));

const imageFacts = (head: Buffer): { width: number; height: number } | null => {
  try {
    const { width, height, orientation = 1 } = imageSize(head);
    // Exif orientations from 5 on are rotated by 90 degrees.
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

/** The dimensions and duration of video and audio files, by container. */
const movingFacts = async ({ mediaType, size, budget, readAt }: Opened): Promise<Partial<Facts> | null> => {
  if (/\/(?:mp4|quicktime|3gpp)$/.test(mediaType)) return movieFacts(readAt, size);
  if (!/\/(?:webm|matroska|ogg|mpeg)$/.test(mediaType)) return null;
  const head = await readAt(0, Math.min(SOUND_HEAD_BYTES, size));
  if (/\/(?:webm|matroska)$/.test(mediaType)) return matroskaFacts(head, budget);
  if (mediaType === 'audio/mpeg') return { duration: mp3Duration(head, size) };
  if (mediaType !== 'audio/ogg') return null;
  return { duration: oggDuration(head, await readAt(Math.max(0, size - SOUND_TAIL_BYTES), SOUND_TAIL_BYTES)) };
};

/** Reads the properties of an untrusted file; `name` is the name that it is served under. */
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
