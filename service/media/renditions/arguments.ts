/** The command lines of ffmpeg that make renditions. Pure. */
import { MOST_FILM, MOST_RATE, MOST_SIDE } from './profile.ts';

/** What is known of a film that is converted. */
export interface FilmFacts {
  /** Pixels as shown: after rotation, square. */
  width: number | null;
  height: number | null;
  rate: number | null;
  isInterlaced: boolean;
  sound: string | null;
  /** Seconds. */
  duration: number | null;
  isHdr: boolean;
  hasMatrix: boolean;
}

/** Pictures a second of a film whose pictures are few, or whose rate is not known. */
const USUAL_RATE = 25;
const LEAST_RATE = 10;
/** Lines of a picture from which films without a matrix are BT.709. */
const HD_LINES = 720;

const even = (side: number): number => Math.max(2, Math.round(side / 2) * 2);

/** Fits a film into 3840x2160, or on its side. */
export const filmSize = (width: number, height: number): readonly [width: number, height: number] => {
  const [across, up] = width >= height ? MOST_FILM : ([MOST_FILM[1], MOST_FILM[0]] as const);
  const scale = Math.min(1, across / width, up / height);
  return [even(width * scale), even(height * scale)];
};

/** Pictures a second of the rendition. */
export const filmRate = (rate: number | null): number =>
  rate === null || rate < LEAST_RATE ? USUAL_RATE : Math.min(MOST_RATE, rate);

/** From PQ or HLG to the range of a display (Hable's curve). */
const TONE_MAP = [
  'zscale=t=linear:npl=100',
  'format=gbrpf32le',
  'zscale=p=bt709',
  'tonemap=hable:desat=0',
  'zscale=t=bt709:m=bt709:r=tv',
].join(',');

const BT709 = ['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'];

/** Progress on standard output, some hundred times, and at least every 30 s. */
const progress = (duration: number | null): string[] => {
  const period = Math.min(30, Math.max(1, Math.ceil((duration ?? 3_600) / 300)));
  return ['-v', 'error', '-progress', 'pipe:1', '-stats_period', String(period)];
};
/** Without what the author wrote into the file, and without other streams. */
const STREAMS = ['-map', '0:V:0', '-map', '0:a:0?', '-sn', '-dn', '-map_metadata', '-1', '-map_chapters', '-1'];
const MP4 = ['-movflags', '+faststart', '-f', 'mp4', '-y'];
const AAC = ['-c:a', 'aac', '-ac', '2', '-ar', '48000', '-b:a', '160k'];

/** @param input as `inputOf` gives it */
export const remuxArguments = (
  input: readonly string[],
  { sound, duration }: Pick<FilmFacts, 'sound' | 'duration'>,
  out: string,
): string[] => [
  // What is damaged is encoded instead: browsers end at the first damage, and decoders of ffmpeg conceal it.
  '-xerror',
  ...input,
  ...[...progress(duration), ...STREAMS, '-c:v', 'copy', '-avoid_negative_ts', 'make_zero'],
  ...(sound === 'aac' || sound === 'mp3' ? ['-c:a', 'copy'] : AAC),
  ...[...MP4, `file:${out}`],
];

/** @param isPlain without the filters that some builds of ffmpeg lack */
export const filmArguments = (
  input: readonly string[],
  { width, height, rate, isInterlaced, duration, isHdr, hasMatrix }: FilmFacts,
  { threads, isPlain, out }: { threads: number; isPlain: boolean; out: string },
): string[] => {
  const [across, up] = filmSize(width ?? MOST_FILM[0], height ?? MOST_FILM[1]);
  const matrix = hasMatrix || up < HD_LINES ? '' : ':in_color_matrix=bt709';
  const filters = [
    ...(isInterlaced ? ['bwdif=mode=send_frame'] : []),
    `fps=${filmRate(rate)}`,
    ...(isHdr && !isPlain ? [TONE_MAP] : []),
    `scale=${across}:${up}${matrix}:out_color_matrix=bt709:out_range=tv`,
    'setsar=1',
    'format=yuv420p',
  ];
  return [
    ...input,
    ...[...progress(duration), ...STREAMS, '-vf', filters.join(','), '-filter_threads', String(threads)],
    ...['-c:v', 'libx264', '-profile:v', 'high', '-preset', 'veryfast', '-crf', '21', '-threads', String(threads)],
    ...['-force_key_frames', 'expr:gte(t,n_forced*2)', ...BT709, ...AAC, ...MP4, `file:${out}`],
  ];
};

/** What turns a picture upright, by its Exif orientation (CIPA DC-008, 4.6.4). */
const upright: Readonly<Record<number, string>> = {
  2: 'hflip',
  3: 'hflip,vflip',
  4: 'vflip',
  5: 'transpose=cclock_flip',
  6: 'transpose=clock',
  7: 'transpose=clock_flip',
  8: 'transpose=cclock',
};

/** From the colours of a profile to sRGB by a table; the profile, which the file would keep, goes. */
const toSrgb = (cube: string): string[] => {
  // In quotes all is meant as it stands but quotes; the value of an option has escapes of its own.
  const file = cube.replaceAll(/[\\':]/g, '\\$&').replaceAll("'", "'\\''");
  return [`lut3d=file='${file}'`, 'sidedata=mode=delete:type=ICC_PROFILE'];
};

/** Fits a picture into a square of {@link MOST_SIDE}. */
const FIT =
  `scale=w='if(gte(iw,ih),min(iw,${MOST_SIDE}),max(1,round(iw*min(1,${MOST_SIDE}/ih))))'` +
  `:h='if(gte(iw,ih),max(1,round(ih*min(1,${MOST_SIDE}/iw))),min(ih,${MOST_SIDE}))':flags=lanczos`;

/** Larger pictures would take more memory than a child may have. */
const MAX_PIXELS = 300e6;

interface PictureFacts {
  file: string;
  demuxer: string;
  orientation: number;
  /** A file with the table that makes its colours those of sRGB; null: they are, or are not known. */
  cube: string | null;
  isAnimated: boolean;
}

/** An animation stays one, with the times of its pictures, and is repeated without end. */
const animation = (isPlain: boolean): string[] => [
  ...(isPlain ? ['-vsync', '0'] : ['-fps_mode', 'passthrough']),
  ...[
    ...progress(null),
    '-c:v',
    'libwebp_anim',
    '-loop',
    '0',
    '-quality',
    '85',
    '-compression_level',
    '2',
    '-f',
    'webp',
  ],
];

export const pictureArguments = (
  { file, demuxer, orientation, cube, isAnimated }: PictureFacts,
  { isPlain, out }: { isPlain: boolean; out: string },
): string[] => {
  const filters = [
    FIT,
    ...(cube === null || isPlain ? [] : toSrgb(cube)),
    ...(upright[orientation] === undefined ? [] : [upright[orientation]]),
    'setsar=1',
  ];
  const encoding = isAnimated
    ? animation(isPlain)
    : out.endsWith('.webp')
      ? ['-c:v', 'libwebp', '-quality', '90', '-compression_level', '2', '-f', 'webp']
      : ['-pix_fmt', 'yuvj420p', '-q:v', '2', '-f', 'mjpeg'];
  return [
    ...['-nostdin', '-v', 'error', '-threads', '1', '-max_pixels', String(MAX_PIXELS), '-noautorotate'],
    ...['-protocol_whitelist', 'file', '-f', demuxer, '-i', `file:${file}`],
    ...[
      '-map',
      '0:v:0',
      ...(isAnimated ? [] : ['-frames:v', '1']),
      '-map_metadata',
      '-1',
      '-vf',
      filters.join(','),
      '-threads',
      '1',
    ],
    ...[...encoding, '-y', `file:${out}`],
  ];
};

/** The time of the output that a piece of ffmpeg's progress tells, s; null: none. */
export const progressOf = (text: string): number | null => {
  const [, us] = [...text.matchAll(/^out_time_us=(\d+)$/gm)].at(-1) ?? [];
  return us === undefined ? null : Number(us) / 1e6;
};
