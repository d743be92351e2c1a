/** Media made for a test: flat colours that can be told apart in a screenshot. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { PNG } from 'pngjs';
import { isCi } from './machine.ts';
import { findProgram } from './program.ts';

export type Rgb = readonly [red: number, green: number, blue: number];

/** Where there is none, what needs one is skipped by name; in CI it fails. */
export const hasFfmpeg = findProgram('ffmpeg') !== undefined || isCi;

/** Films and sounds are made once for all tests and runs. */
const made = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'test-media');

/** The path of a medium that ffmpeg makes by these arguments; it is shared, and must not be changed. */
export const makeMedium = (name: string, how: readonly string[]): string => {
  const key = createHash('sha256').update(JSON.stringify(how)).digest('hex').slice(0, 16);
  const path = join(made, `${key}${extname(name)}`);
  if (existsSync(path)) return path;
  mkdirSync(made, { recursive: true });
  const unfinished = join(made, `${randomUUID()}${extname(name)}`);
  execFileSync('ffmpeg', ['-v', 'error', ...how, unfinished]);
  renameSync(unfinished, path);
  return path;
};

const uploads = (dataDir: string): string => {
  const folder = join(dataDir, 'uploads');
  mkdirSync(folder, { recursive: true });
  return folder;
};

/** Puts a PNG of one colour into the uploads; answers its address. */
export const putImage = (dataDir: string, name: string, [red, green, blue]: Rgb): string => {
  const png = new PNG({ width: 64, height: 36 });
  for (let at = 0; at < png.data.length; at += 4) png.data.set([red, green, blue, 255], at);
  writeFileSync(join(uploads(dataDir), name), PNG.sync.write(png));
  return `/media/${name}`;
};

/** Puts an H.264 video of one colour, with a tone, into the uploads; answers its address. */
export const putVideo = (
  dataDir: string,
  name: string,
  [red, green, blue]: Rgb,
  seconds: number,
  size = '320x180',
): string => {
  const hex = [red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('');
  const how = [
    ...['-f', 'lavfi', '-i', `color=0x${hex}:size=${size}:rate=25:duration=${seconds}`],
    ...['-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-movflags', '+faststart'],
  ];
  copyFileSync(makeMedium(name, how), join(uploads(dataDir), name));
  return `/media/${name}`;
};

/** The two greys of a numbered frame. */
const LEVELS = [100, 235] as const;

/**
 * Puts a video into the uploads whose frames carry their number, from 0, in five bits: one of five upright bars each, the
 * lowest at the left, light where it is set. {@link numberOf} reads it.
 */
export const putNumberedVideo = (dataDir: string, name: string, frames: number, rate: number): string => {
  const bars = `if(mod(floor(N/pow(2,floor(X*5/W))),2),${LEVELS[1]},${LEVELS[0]})`;
  const how = [
    ...['-f', 'lavfi', '-i', `nullsrc=s=320x180:r=${rate}:d=${frames / rate}`],
    ...['-vf', `geq=lum='${bars}':cb=128:cr=128`, '-c:v', 'libx264', '-crf', '4', '-pix_fmt', 'yuv420p'],
    ...['-movflags', '+faststart'],
  ];
  copyFileSync(makeMedium(name, how), join(uploads(dataDir), name));
  return `/media/${name}`;
};

/**
 * The number on a frame by the green of its five bars, from left to right, alone or while something else fades in over it;
 * null where the bars can't be told apart, as in the frame 0.
 */
export const numberOf = (bars: readonly number[]): number | null => {
  const [low, high] = [Math.min(...bars), Math.max(...bars)];
  if (high - low < 20) return null;
  return bars.reduce((number, bar, bit) => number + (bar > (low + high) / 2 ? 2 ** bit : 0), 0);
};

/** The colour in the middle of a JPEG. */
export const middleOf = (jpeg: Buffer): Rgb => {
  const filter = ['-vf', 'crop=2:2,scale=1:1', '-pix_fmt', 'rgb24', '-f', 'rawvideo'];
  const { stdout } = spawnSync('ffmpeg', ['-f', 'mjpeg', '-i', '-', ...filter, '-'], { input: jpeg });
  return [stdout[0] ?? 0, stdout[1] ?? 0, stdout[2] ?? 0];
};

/** All pixels of a JPEG, three bytes each, row by row. */
export const pixelsOf = (jpeg: Buffer): Buffer => {
  const rows = ['-pix_fmt', 'rgb24', '-f', 'rawvideo'];
  return spawnSync('ffmpeg', ['-f', 'mjpeg', '-i', '-', ...rows, '-'], { input: jpeg, maxBuffer: 2 ** 26 }).stdout;
};
