/** Which rendition a file needs, so that browsers show it well. Pure. */
import { isRaw } from '../../domain/media-types.ts';

/**
 * How a rendition is made. `remux`: the same pictures in MP4, its index first. `h264`: H.264 and AAC in MP4. `picture`: a
 * JPEG, or a WebP where it may be transparent. `pdf`: a PDF document.
 */
export const profiles = ['remux', 'h264', 'picture', 'pdf'] as const;
export type Profile = (typeof profiles)[number];

/** What a file needs. */
export interface Need {
  /** Null: no rendition. */
  profile: Profile | null;
  /** Whether browsers show the original, too. */
  isShowable: boolean;
}

export const nothingNeeded: Need = { profile: null, isShowable: true };

/** Of documents that no browser shows. */
export const documentNeeded: Need = { profile: 'pdf', isShowable: false };

/** Longest side, and number of pixels, of a picture that is shown as it is. */
export const MOST_SIDE = 3840;
const MOST_PIXELS = 25e6;
/** The rectangle that films fit into, on their side too. */
export const MOST_FILM = [3840, 2160] as const;
export const MOST_RATE = 60;
/** H.264, level 5.1 (Rec. ITU-T H.264, table A-1): macroblocks of a picture, and a second. */
const LEVEL_5_1 = { frame: 36_864, rate: 983_040 };
/** Pictures further apart, in s, or than so many times the median, make a player stutter. */
const MOST_GAP = 0.1;
const MOST_UNEVEN = 3;

/** Types of pictures that no browser shows. */
const foreign: readonly string[] = ['image/heic', 'image/heif', 'image/tiff', 'image/jp2', 'image/vnd.adobe.photoshop'];
/** Icons are small. SVG is drawn at the size of the display, and the programs that convert pictures cannot read it. */
const asTheyAre: readonly string[] = ['image/svg+xml', 'image/x-icon'];
/** Of animations, those that ffmpeg does not read: they are shown as they are, however large. */
const UNREAD_ANIMATION = 'image/webp';

export interface Picture {
  mediaType: string;
  /** Pixels; null: not known. */
  width: number | null;
  height: number | null;
  isAnimated: boolean;
  isCmyk: boolean;
}

export const needOfPicture = ({ mediaType, width, height, isAnimated, isCmyk }: Picture): Need => {
  const isShowable = !foreign.includes(mediaType) && !isRaw(mediaType);
  if (asTheyAre.includes(mediaType) || (isAnimated && mediaType === UNREAD_ANIMATION)) return nothingNeeded;
  const [across, up] = [width ?? 0, height ?? 0];
  const isLarge = Math.max(across, up) > MOST_SIDE || across * up > MOST_PIXELS;
  const needs = !isShowable || mediaType === 'image/bmp' || isLarge || isCmyk;
  return { profile: needs ? 'picture' : null, isShowable };
};

/** What the streams of a film are, as ffmpeg reports them; null: not known, or none. */
export interface Film {
  /** ffmpeg's name, such as `hevc`. */
  codec: string | null;
  /** ffmpeg's name, such as `yuv420p10le`. */
  pixelFormat: string | null;
  /** As stored: before rotation, and with pixels that need not be square. */
  storedWidth: number | null;
  storedHeight: number | null;
  /** Pictures a second. */
  rate: number | null;
  isInterlaced: boolean;
  /** The codec of the first sound. */
  sound: string | null;
}

/** Seconds between two pictures in the order in which they are shown. */
export interface Spacing {
  median: number;
  most: number;
}

const modern: readonly string[] = ['h264', 'vp9', 'av1'];
const sounds: Readonly<Record<string, readonly string[]>> = {
  'video/mp4': ['aac', 'mp3', 'flac', 'opus'],
  'video/webm': ['vorbis', 'opus'],
};

const isBeyondLevel = ({ codec, storedWidth, storedHeight, rate }: Film): boolean => {
  const blocks = Math.ceil((storedWidth ?? 0) / 16) * Math.ceil((storedHeight ?? 0) / 16);
  return codec === 'h264' && (blocks > LEVEL_5_1.frame || blocks * (rate ?? 0) > LEVEL_5_1.rate);
};

const isUneven = ({ median, most }: Spacing): boolean =>
  // Times are rounded to the unit of the container, 1 ms in Matroska.
  most > MOST_GAP + 0.002 || most > MOST_UNEVEN * median + 0.002;

/**
 * @param hasLateIndex whether the index of an MP4 file is behind the pictures
 * @param spacing null: not known
 */
export const needOfFilm = (
  mediaType: string,
  film: Film,
  { hasLateIndex, spacing }: { hasLateIndex: boolean; spacing: Spacing | null },
): Need => {
  const { codec, pixelFormat, storedWidth, storedHeight, rate, isInterlaced, sound } = film;
  if (!mediaType.startsWith('video/') || codec === null) return nothingNeeded;
  const isWebm = mediaType === 'video/webm';
  const isKnown = modern.includes(codec) || (isWebm && codec === 'vp8');
  const isPlain = /^yuvj?420p$/.test(pixelFormat ?? '');
  // AV1, VP9 and VP8 in Matroska, H.264 in Matroska too: but not in what only cameras and discs use.
  const isOwnContainer = isWebm ? codec !== 'h264' : mediaType === 'video/mp4';
  const isShowable = isKnown && isPlain && isOwnContainer;
  const [long, short] = [storedWidth ?? 0, storedHeight ?? 0].sort((a, b) => b - a) as [number, number];
  const isHeavy =
    long > MOST_FILM[0] || short > MOST_FILM[1] || (rate !== null && rate > MOST_RATE + 0.5) || isBeyondLevel(film);
  if (!isKnown || !isPlain || isInterlaced || isHeavy || (spacing !== null && isUneven(spacing))) {
    return { profile: 'h264', isShowable };
  }
  const isHeard = sound === null || (sounds[mediaType] ?? []).includes(sound);
  return { profile: isOwnContainer && isHeard && !hasLateIndex ? null : 'remux', isShowable };
};
