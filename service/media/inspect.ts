/** What a file of somebody's is: its type, and the size and length of what it shows. */
import { type FileHandle, open } from 'node:fs/promises';
import { imageSize } from 'image-size';
import { demuxerOf, formatOf, isOffice, isRaw, judgeType, SIGNATURE_BYTES } from '../domain/media-types.ts';
import type { ServiceContext } from '../module.ts';
import type { RunConfined } from '../platform/confined.ts';
import { fingerprint } from './folders.ts';
import { findPreview, readPreview } from './raw.ts';
import {
  documentNeeded,
  type Film,
  type Need,
  needOfFilm,
  needOfPicture,
  nothingNeeded,
  type Spacing,
} from './renditions/profile.ts';

/** What is shown; null: not known. */
interface Shown {
  /** Pixels, after rotation. */
  width: number | null;
  height: number | null;
  /** Seconds. */
  duration: number | null;
}

/** What a file is, and what browsers need instead of it. */
export interface Reading extends Shown, Need {
  /** ffmpeg's name of the codec of a film or a sound; the format of a picture or document. Null: not known. */
  codec: string | null;
  /** Of a film, as ffmpeg calls it: `Main 10`. Null: not known, or none. */
  codecProfile: string | null;
  /** Frames a second of a film. Null: not known, or none. */
  frameRate: number | null;
  /** Whether it is what its first bytes say; else nothing can be shown of it. */
  isReadable: boolean;
}

/** The properties of a file that its first bytes tell. */
export interface Facts extends Reading {
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

/** Number of colours of a JPEG (ITU-T T.81, B.2.2): four are CMYK. */
const isCmyk = (head: Buffer): boolean => {
  for (let at = 2; at + 9 < head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
    const marker = head[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return head[at + 9] === 4;
  }
  return false;
};

/** Of GIF, PNG (its chunk `acTL`) and WebP (a flag of its chunk `VP8X`). */
export const isAnimated = (mediaType: string, head: Buffer): boolean =>
  mediaType === 'image/gif'
    ? head.includes('NETSCAPE2.0')
    : mediaType === 'image/webp'
      ? head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 2) !== 0
      : head.toString('latin1', 1, 4) === 'PNG' && head.includes('acTL');

/** How a picture is turned to be upright (Exif), 1 to 8. */
export const orientationOf = (head: Buffer): number => {
  try {
    return imageSize(head).orientation ?? 1;
  } catch {
    return 1;
  }
};

const sizeOf = (head: Buffer): { width: number | null; height: number | null } => {
  try {
    const { width, height, orientation = 1 } = imageSize(head);
    // Exif orientations from 5 on are rotated by 90 degrees.
    return orientation < 5 ? { width, height } : { width: height, height: width };
  } catch {
    return { width: null, height: null };
  }
};

const pictureFacts = (mediaType: string, head: Buffer): Pick<Facts, 'width' | 'height' | 'profile' | 'isShowable'> => {
  const size = sizeOf(head);
  const traits = {
    isAnimated: isAnimated(mediaType, head),
    isCmyk: mediaType === 'image/jpeg' && isCmyk(head),
  };
  return { ...size, ...needOfPicture({ mediaType, ...size, ...traits }) };
};

/** The first bytes of a picture, in which its size and orientation stand; of a raw one those of its preview. */
export const pictureHead = async (handle: FileHandle, mediaType: string): Promise<Buffer> => {
  const preview = isRaw(mediaType) ? await findPreview(handle) : null;
  if (preview !== null) return readPreview(handle, preview, JPEG_HEAD_BYTES);
  return readHead(handle, mediaType === 'image/jpeg' ? JPEG_HEAD_BYTES : IMAGE_HEAD_BYTES);
};

/**
 * Reads the first bytes of an untrusted file; `name` is the name that it is served under.
 * @param knownType its media type, if that does not follow from the name
 */
export const inspect = async (path: string, name: string, knownType?: string): Promise<Facts> => {
  const handle = await open(path);
  try {
    const stats = await handle.stat();
    const mediaType = knownType ?? (await typeOfFile(handle, name));
    const isPicture = mediaType.startsWith('image/');
    return {
      fingerprint: fingerprint(stats),
      size: stats.size,
      mediaType,
      width: null,
      height: null,
      duration: null,
      codec: formatOf(mediaType),
      codecProfile: null,
      frameRate: null,
      ...(isOffice(mediaType) ? documentNeeded : nothingNeeded),
      isReadable: true,
      ...(isPicture && pictureFacts(mediaType, await pictureHead(handle, mediaType))),
      isProbed: isPicture || demuxerOf(mediaType) === undefined,
    };
  } finally {
    await handle.close();
  }
};

/** Parses what `ffmpeg -i` reports. What the author of the file wrote into it stands in lines that are further indented. */
export const readReport = (report: string): Shown & Film & Colours & Pick<Reading, 'codecProfile'> => {
  const [, hours, minutes, seconds] = /^ {2}Duration: (\d+):(\d\d):(\d\d\.\d+)/m.exec(report) ?? [];
  const duration = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const streams = report.split(/^ {2}(?=Stream #)/m).slice(1);
  // The cover of a song is no film.
  const film = streams.find((stream) => /^[^\n]*: Video: (?!.*\(attached pic\))/.test(stream)) ?? '';
  const [line = ''] = film.split('\n');
  const [, width, height, across = 1, up = 1] = /, (\d+)x(\d+)(?: \[SAR (\d+):(\d+))?/.exec(film) ?? [];
  const [, angle] = /rotation of (-?\d+)/.exec(film) ?? [];
  const size = [Math.round((Number(width) * Number(across)) / Number(up)), Number(height)].map((side) => side || null);
  const [shownWidth = null, shownHeight = null] = Math.abs(Number(angle)) === 90 ? size.reverse() : size;
  const [, rate, thousands] = /, ([\d.]+)(k?) fps/.exec(line) ?? /, ([\d.]+)(k?) tbr/.exec(line) ?? [];
  const [, colours = ''] = /\((?:tv|pc)?(?:, )?([^)]*)\), \d+x\d+/.exec(line) ?? [];
  return {
    width: shownWidth,
    height: shownHeight,
    duration: duration || null,
    codec: /: Video: (\w+)/.exec(line)?.[1] ?? null,
    // What stands in brackets may also be the name of the codec in the container, with its number.
    codecProfile: /: Video: \w+ \((?![^)]* \/ 0x)([^)]+)\)/.exec(line)?.[1] ?? null,
    pixelFormat: /: Video: [^,]*(?:\([^)]*\)[^,]*)*, (\w+)[(,]/.exec(line)?.[1] ?? null,
    storedWidth: Number(width) || null,
    storedHeight: Number(height) || null,
    rate: rate === undefined ? null : Number(rate) * (thousands === 'k' ? 1000 : 1),
    isInterlaced: /\b(?:top|bottom) (?:coded )?first\b/.test(line),
    sound: /: Audio: (\w+)/.exec(streams.find((stream) => /^[^\n]*: Audio: /.test(stream)) ?? '')?.[1] ?? null,
    isHdr: /\b(?:smpte2084|arib-std-b67)\b/.test(colours),
    hasMatrix: /\b(?:bt709|smpte170m|bt470bg|bt2020n?c)\b/.test(colours),
  };
};

/** How the colours of a film are coded. */
export interface Colours {
  /** With the transfer function of PQ or HLG (Rec. ITU-R BT.2100). */
  isHdr: boolean;
  /** Whether the film says how its colours become red, green and blue. */
  hasMatrix: boolean;
}

/** Parses the times of pictures that ffmpeg's muxer `framecrc` writes, of the first stream; null: too few. */
export const readSpacing = (report: string): Spacing | null => {
  const [, units, second] = /^#tb 0: (\d+)\/(\d+)/m.exec(report) ?? [];
  const unit = Number(units) / Number(second);
  // Behind the last line break a line may be cut.
  const lines = report.slice(0, report.lastIndexOf('\n')).split('\n');
  const times = lines.flatMap((line) => {
    const [, pts] = /^0,\s*-?\d+,\s*(-?\d+),/.exec(line) ?? [];
    return pts === undefined ? [] : [Number(pts)];
  });
  const ordered = times.sort((a, b) => a - b);
  const gaps = ordered.slice(1).map((time, index) => (time - (ordered[index] ?? 0)) * unit);
  const sorted = gaps.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  return median === undefined || gaps.length < 3 ? null : { median, most: sorted.at(-1) ?? median };
};

/** Boxes at the top of a file before its index: more is no film. */
const MAX_BOXES = 100;

/** Whether the index of an ISO base media file stands behind its pictures (ISO/IEC 14496-12, 4.2). */
export const hasLateIndex = async (handle: Pick<FileHandle, 'read'>): Promise<boolean> => {
  let at = 0;
  for (let count = 0; count < MAX_BOXES; count++) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, at);
    const type = buffer.toString('latin1', 4, 8);
    if (bytesRead < 8 || type === 'moov') return false;
    if (type === 'mdat') return true;
    const size = buffer.readUInt32BE(0);
    const length = size === 1 ? Number(buffer.readBigUInt64BE(8)) : size;
    if (length < 8) return false;
    at += length;
  }
  return false;
};

/** Beginning of the command line of ffmpeg for a file of somebody's. */
export const inputOf = (file: string, mediaType: string): string[] => [
  ...['-nostdin', '-hide_banner', '-threads', '1'],
  // Without a demuxer ffmpeg would also follow playlists, which name other files and addresses.
  ...['-protocol_whitelist', 'file', '-f', demuxerOf(mediaType) ?? '', '-i', `file:${file}`],
];

/** The part of a film whose pictures are looked at, s. */
const SPACING_SECONDS = 600;
/** Types that browsers show as they are, where nothing else speaks against it. */
const ownContainers: readonly string[] = ['video/mp4', 'video/webm'];

/**
 * Reads a file in a child, whose failure leaves sizes and length unknown; null: this box has no ffmpeg.
 */
export const createProbe =
  ({ ffmpeg, confined, tempo }: Pick<ServiceContext, 'ffmpeg' | 'tempo'> & { confined: RunConfined }) =>
  async (file: string, mediaType: string, signal: AbortSignal): Promise<Reading | null> => {
    const program = await ffmpeg.find();
    if (program === null) return null;
    const run = (more: readonly string[]) => {
      const args = [...inputOf(file, mediaType), ...more];
      return confined({ program: program.path, args, file, timeout: tempo.media.probe, signal });
    };
    const report = await run([]);
    // What is cut for want of time or memory is tried again once: the machine may have been busy.
    const { width, height, duration, ...film } = readReport((report.isCut ? await run([]) : report).stderr);
    const { codecProfile, rate: frameRate } = film;
    const shown = { width, height, duration, codec: film.codec ?? film.sound, codecProfile, frameRate };
    const first = needOfFilm(mediaType, film, { hasLateIndex: false, spacing: null });
    const isReadable = film.codec !== null || film.sound !== null;
    // Only films that need no rendition otherwise are looked at more closely.
    if (film.codec === null || first.profile === 'h264') return { ...shown, ...first, isReadable };
    const times = await run(['-map', '0:V:0', '-c', 'copy', '-t', String(SPACING_SECONDS), '-f', 'framecrc', 'pipe:1']);
    const spacing = readSpacing(times.stdout.toString('latin1'));
    const handle = await open(file);
    try {
      const isLate = ownContainers.includes(mediaType) && (await hasLateIndex(handle));
      return { ...shown, ...needOfFilm(mediaType, film, { hasLateIndex: isLate, spacing }), isReadable };
    } finally {
      await handle.close();
    }
  };
export type Probe = ReturnType<typeof createProbe>;
