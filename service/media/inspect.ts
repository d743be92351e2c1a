/** What a file of somebody's is: its type, and the size and length of what it shows. */
import { open } from 'node:fs/promises';
import { imageSize } from 'image-size';
import { remember } from '../domain/collections.ts';
import { demuxerOf, formatOf, isOffice, isRaw, judgeType, SIGNATURE_BYTES } from '../domain/media-types.ts';
import type { ServiceContext } from '../module.ts';
import type { RunConfined } from '../platform/confined.ts';
import { fingerprint } from './folders.ts';
import { type PictureHeader, profileIn, readAt, type Source, unknownHeader } from './headers/header.ts';
import { findBox, readHeif } from './headers/heif.ts';
import { readJpeg } from './headers/jpeg.ts';
import { readTiff } from './headers/tiff.ts';
import { findPreview } from './raw.ts';
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

/** Of pictures whose header is not read box by box: image-size takes quadratic time for some formats. */
const IMAGE_HEAD_BYTES = 64 * 1024;

/** The first bytes of a file, enough to detect its type. */
export const headOf = async (path: string): Promise<Buffer> => {
  const handle = await open(path);
  try {
    return await readAt(handle, 0, SIGNATURE_BYTES);
  } finally {
    await handle.close();
  }
};

/** The media type that a file of this name is served with; see {@link judgeType}. */
export const typeOfFile = async (source: Source, name: string): Promise<string> =>
  judgeType(name, await readAt(source, 0, SIGNATURE_BYTES));

/** Of GIF, PNG (its chunk `acTL`) and WebP (a flag of its chunk `VP8X`). */
const isAnimated = (mediaType: string, head: Buffer): boolean =>
  mediaType === 'image/gif'
    ? head.includes('NETSCAPE2.0')
    : mediaType === 'image/webp'
      ? head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 2) !== 0
      : head.toString('latin1', 1, 4) === 'PNG' && head.includes('acTL');

const sizeOf = (head: Buffer): Pick<PictureHeader, 'width' | 'height'> => {
  try {
    const { width, height } = imageSize(head);
    return { width, height };
  } catch {
    return { width: null, height: null };
  }
};

/** Of a raw picture: that of its preview. */
const readRaw = async (source: Source): Promise<PictureHeader> => {
  const preview = await findPreview(source);
  if (preview === null) return unknownHeader;
  const header = await readJpeg(source, preview.offset);
  return { ...header, orientation: header.orientation === 1 ? preview.orientation : header.orientation };
};

/** Of formats whose header may lie anywhere in the file, and is read piece by piece. */
const readPieces = async (source: Source, mediaType: string): Promise<PictureHeader> => {
  if (isRaw(mediaType)) return readRaw(source);
  if (mediaType === 'image/jpeg') return readJpeg(source);
  if (mediaType === 'image/tiff') return readTiff(source);
  return /^image\/(?:hei[cf]|avif)$/.test(mediaType) ? readHeif(source) : unknownHeader;
};

/** The header of a picture. */
export const readHeader = async (source: Source, mediaType: string): Promise<PictureHeader> => {
  const header = await readPieces(source, mediaType).catch((error: unknown) => {
    // A number of a damaged file leads out of what was read of it.
    if (error instanceof RangeError) return unknownHeader;
    throw error;
  });
  if (header.width !== null || isRaw(mediaType)) return header;
  const head = await readAt(source, 0, IMAGE_HEAD_BYTES);
  const isMoving = isAnimated(mediaType, head);
  return { ...header, ...sizeOf(head), isAnimated: isMoving, icc: header.icc ?? profileIn(head) };
};

const pictureFacts = (
  mediaType: string,
  { orientation, isCmyk, isAnimated: isMoving, width, height }: PictureHeader,
): Pick<Facts, 'width' | 'height' | 'profile' | 'isShowable'> => {
  // Exif orientations from 5 on are rotated by 90 degrees.
  const size = orientation < 5 ? { width, height } : { width: height, height: width };
  return { ...size, ...needOfPicture({ mediaType, ...size, isAnimated: isMoving, isCmyk }) };
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
      ...(isPicture && pictureFacts(mediaType, await readHeader(handle, mediaType))),
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
  const [, width, height] = /, (\d+)x(\d+)/.exec(film) ?? [];
  // In brackets stands what the film says; behind them what the container says, by which it is shown.
  const [, across = 1, up = 1] = /, SAR (\d+):(\d+) DAR/.exec(line) ?? /\[SAR (\d+):(\d+)/.exec(line) ?? [];
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

/** Whether the index of an ISO base media file stands behind its pictures (ISO/IEC 14496-12, 4.2). */
export const hasLateIndex = async (source: Source): Promise<boolean> =>
  (await findBox(source, ['moov', 'mdat']))?.type === 'mdat';

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

/** A file whose readings are cut so often is not readable. */
const MAX_CUTS = 3;
/** Files whose readings were cut that are remembered. */
const MAX_REMEMBERED = 1_000;

/**
 * Reads a file in a child, whose failure leaves sizes and length unknown; null: it is to be read later, because this box has
 * no ffmpeg, or ffmpeg was killed or ran out of time.
 */
export const createProbe = ({
  ffmpeg,
  confined,
  tempo,
}: Pick<ServiceContext, 'ffmpeg' | 'tempo'> & { confined: RunConfined }) => {
  const cuts = new Map<string, number>();
  return async (file: string, mediaType: string, signal: AbortSignal): Promise<Reading | null> => {
    const program = await ffmpeg.find();
    if (program === null) return null;
    const run = (more: readonly string[]) => {
      const args = [...inputOf(file, mediaType), ...more];
      return confined({ program: program.path, args, file, timeout: tempo.media.probe, signal });
    };
    const first = await run([]);
    // What is cut for want of time or memory is tried again once: the machine may have been busy.
    const report = first.isCut ? await run([]) : first;
    const { width, height, duration, ...film } = readReport(report.stderr);
    const isReadable = film.codec !== null || film.sound !== null;
    if (report.isCut && !isReadable) {
      const count = (cuts.get(file) ?? 0) + 1;
      if (!signal.aborted) remember(cuts, file, count, MAX_REMEMBERED);
      if (count < MAX_CUTS || signal.aborted) return null;
    } else cuts.delete(file);
    const { codecProfile, rate: frameRate } = film;
    const shown = { width, height, duration, codec: film.codec ?? film.sound, codecProfile, frameRate };
    const need = needOfFilm(mediaType, film, { hasLateIndex: false, spacing: null });
    // Only films that need no rendition otherwise are looked at more closely.
    if (film.codec === null || need.profile === 'h264') return { ...shown, ...need, isReadable };
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
};
export type Probe = ReturnType<typeof createProbe>;
