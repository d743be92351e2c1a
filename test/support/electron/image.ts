/** Pictures, as `nativeImage` makes them: JPEG by a real ffmpeg, as Electron's own encoder answers at once too. */
import { spawnSync } from 'node:child_process';

interface Size {
  width: number;
  height: number;
}

/** What ffmpeg reads: a file, or rows of BGRA. */
interface Source {
  bytes: Buffer;
  input: readonly string[];
}

/** The size that the header of a PNG names. */
const sizeOfPng = (png: Buffer): Size =>
  png.length === 0 ? { width: 0, height: 0 } : { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };

export class NativeImage {
  readonly #source: Source;
  readonly #size: Size;

  constructor(source: Source, size: Size) {
    this.#source = source;
    this.#size = size;
  }

  static fromPng(bytes: Buffer): NativeImage {
    return new NativeImage({ bytes, input: ['-f', 'png_pipe'] }, sizeOfPng(bytes));
  }

  isEmpty(): boolean {
    return this.#size.width === 0;
  }
  getSize(): Size {
    return this.#size;
  }
  /** Keeps the proportions where one side alone is given. */
  resize({ width, height }: Partial<Size>): NativeImage {
    const before = this.#size;
    const scale = (width ?? before.width) / before.width;
    const next = { width: width ?? before.width, height: height ?? Math.round(before.height * scale) };
    return new NativeImage(this.#source, next);
  }
  toJPEG(quality: number): Buffer {
    return this.#encode(['-q:v', String(Math.round(31 - 0.3 * quality)), '-f', 'mjpeg']);
  }
  toBitmap(): Buffer {
    return this.#encode(['-pix_fmt', 'bgra', '-f', 'rawvideo']);
  }
  #encode(output: readonly string[]): Buffer {
    const { width, height } = this.#size;
    const { bytes, input } = this.#source;
    const options = { input: bytes, maxBuffer: 64 * 1024 ** 2 };
    const scaled = ['-i', '-', '-vf', `scale=${width}:${height}`];
    const { status, stdout, stderr } = spawnSync('ffmpeg', [...input, ...scaled, ...output, '-'], options);
    if (status !== 0) throw new Error(`ffmpeg: ${stderr}`);
    return stdout;
  }
}

export const nativeImage = {
  createFromBitmap: (bytes: Buffer, { width, height }: Size): NativeImage => {
    if (bytes.length !== width * height * 4) throw new Error('invalid buffer size');
    return new NativeImage(
      { bytes, input: ['-f', 'rawvideo', '-pix_fmt', 'bgra', '-s', `${width}x${height}`] },
      { width, height },
    );
  },
};
