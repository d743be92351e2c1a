/** What a file of somebody's is: its type, and the size and length of what it shows. */
import { type FileHandle, open } from 'node:fs/promises';
import { imageSize } from 'image-size';
import { demuxerOf, judgeType, SIGNATURE_BYTES } from '../domain/media-types.ts';
import type { ServiceContext } from '../module.ts';
import type { RunConfined } from '../platform/confined.ts';
import { fingerprint } from './folders.ts';

/** What is shown; null: not known. */
interface Shown {
  /** Pixels, after rotation. */
  width: number | null;
  height: number | null;
  /** Seconds. */
  duration: number | null;
}

/** The properties of a file that its first bytes tell. */
export interface Facts extends Shown {
  fingerprint: string;
  /** Bytes. */
  size: number;
  mediaType: string;
  /** Whether {@link Probe} has nothing to add. */
  isProbed: boolean;
}

/** JPEG files may carry previews and colour profiles before their dimensions. */
const JPEG_HEAD_BYTES = 512 * 1024;
/** For other images: image-size takes quadratic time for some formats. */
const IMAGE_HEAD_BYTES = 64 * 1024;

const readHead = async (handle: FileHandle, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
  return buffer.subarray(0, bytesRead);
};

/** The first bytes of a file, enough to detect its type. */
export const headOf = async (path: string): Promise<Buffer> => {
  const handle = await open(path);
  try {
    return await readHead(handle, SIGNATURE_BYTES);
  } finally {
    await handle.close();
  }
};

/** The media type that a file of this name is served with; see {@link judgeType}. */
export const typeOfFile = async (handle: FileHandle, name: string): Promise<string> =>
  judgeType(name, await readHead(handle, SIGNATURE_BYTES));

const imageFacts = (head: Buffer): { width: number; height: number } | null => {
  try {
    const { width, height, orientation = 1 } = imageSize(head);
    // Exif orientations from 5 on are rotated by 90 degrees.
    return orientation < 5 ? { width, height } : { width: height, height: width };
  } catch {
    return null;
  }
};

/** Reads the first bytes of an untrusted file; `name` is the name that it is served under. */
export const inspect = async (path: string, name: string): Promise<Facts> => {
  const handle = await open(path);
  try {
    const stats = await handle.stat();
    const mediaType = await typeOfFile(handle, name);
    const isPicture = mediaType.startsWith('image/');
    const length = mediaType === 'image/jpeg' ? JPEG_HEAD_BYTES : IMAGE_HEAD_BYTES;
    return {
      fingerprint: fingerprint(stats),
      size: stats.size,
      mediaType,
      width: null,
      height: null,
      duration: null,
      ...(isPicture && imageFacts(await readHead(handle, length))),
      isProbed: isPicture || demuxerOf(mediaType) === undefined,
    };
  } finally {
    await handle.close();
  }
};

/** Parses what `ffmpeg -i` reports. What the author of the file wrote into it stands in lines that are further indented. */
export const readReport = (report: string): Shown => {
  const [, hours, minutes, seconds] = /^ {2}Duration: (\d+):(\d\d):(\d\d\.\d+)/m.exec(report) ?? [];
  const duration = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const streams = report.split(/^ {2}(?=Stream #)/m).slice(1);
  // The cover of a song is no film.
  const film = streams.find((stream) => /^[^\n]*: Video: (?!.*\(attached pic\))/.test(stream)) ?? '';
  const [, width, height, across = 1, up = 1] = /, (\d+)x(\d+)(?: \[SAR (\d+):(\d+))?/.exec(film) ?? [];
  const [, angle] = /rotation of (-?\d+)/.exec(film) ?? [];
  const size = [Math.round((Number(width) * Number(across)) / Number(up)), Number(height)].map((side) => side || null);
  const [shownWidth = null, shownHeight = null] = Math.abs(Number(angle)) === 90 ? size.reverse() : size;
  return { width: shownWidth, height: shownHeight, duration: duration || null };
};

/**
 * Reads the size and length of a film or a sound in a child, whose failure leaves them unknown; null: this box has no
 * ffmpeg.
 */
export const createProbe =
  ({ ffmpeg, confined, tempo }: Pick<ServiceContext, 'ffmpeg' | 'tempo'> & { confined: RunConfined }) =>
  async (file: string, mediaType: string, signal: AbortSignal): Promise<Shown | null> => {
    const program = await ffmpeg.find();
    if (program === null) return null;
    // Without a demuxer ffmpeg would also follow playlists, which name other files and addresses.
    const demuxer = ['-protocol_whitelist', 'file', '-f', demuxerOf(mediaType) ?? ''];
    const args = ['-nostdin', '-hide_banner', '-threads', '1', ...demuxer, '-i', `file:${file}`];
    const { stderr } = await confined({ program: program.path, args, file, timeout: tempo.media.probe, signal });
    return readReport(stderr);
  };
export type Probe = ReturnType<typeof createProbe>;
