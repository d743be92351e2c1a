/** The duration of audio in seconds, from the first and last bytes of its file; null if they do not contain it. */

/** The sample rate in Hz and the samples to skip at the start, from the first page of a stream. */
const oggClock = (head: Buffer): { rate: number; skipped: number } | null => {
  // Opus always counts at 48 kHz (RFC 7845, 4).
  const opus = head.indexOf('OpusHead');
  if (opus >= 0 && opus + 12 <= head.length) return { rate: 48_000, skipped: head.readUInt16LE(opus + 10) };
  const vorbis = head.indexOf('\x01vorbis', 0, 'latin1');
  if (vorbis >= 0 && vorbis + 16 <= head.length) return { rate: head.readUInt32LE(vorbis + 12), skipped: 0 };
  return null;
};

/** Ogg with Opus or Vorbis: the last page has the total number of samples (granule position, RFC 3533, 6). */
export const oggDuration = (head: Buffer, tail: Buffer): number | null => {
  const clock = oggClock(head);
  const page = tail.lastIndexOf('OggS');
  if (clock === null || clock.rate === 0 || page < 0 || page + 14 > tail.length) return null;
  const samples = Number(tail.readBigInt64LE(page + 6)) - clock.skipped;
  return samples > 0 ? samples / clock.rate : null;
};

/** Layer III bit rates in kbit/s, by the frame header's 4-bit index (ISO/IEC 11172-3, 13818-3). */
const BIT_RATES = {
  first: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  second: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const SAMPLE_RATES = [44_100, 48_000, 32_000];

/** The offset of the first frame, after the ID3v2 tag if present. */
const frameStart = (head: Buffer): number => {
  if (head.toString('latin1', 0, 3) !== 'ID3' || head.length < 10) return 0;
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6, 10);
  return 10 + a * 2 ** 21 + b * 2 ** 14 + c * 2 ** 7 + d;
};

/** MPEG layer III: from the frame count in the Xing or Info header of the first frame, else from its bit rate. */
export const mp3Duration = (head: Buffer, size: number): number | null => {
  const start = frameStart(head);
  if (start + 4 > head.length) return null;
  const header = head.readUInt32BE(start);
  const version = (header >>> 19) & 3;
  const sampleRate = (SAMPLE_RATES[(header >>> 10) & 3] ?? 0) / ({ 3: 1, 2: 2, 0: 4 }[version] ?? Number.NaN);
  const isLayer3 = header >>> 21 === 0x7ff && ((header >>> 17) & 3) === 1;
  if (!isLayer3 || !(sampleRate > 0)) return null;
  const isFirst = version === 3;
  const isMono = ((header >>> 6) & 3) === 3;
  const samplesInFrame = isFirst ? 1152 : 576;

  const xing = start + 4 + (isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17);
  const isCounted = /^(?:Xing|Info)$/.test(head.toString('latin1', xing, xing + 4));
  if (isCounted && xing + 12 <= head.length && (head.readUInt32BE(xing + 4) & 1) === 1) {
    return (head.readUInt32BE(xing + 8) * samplesInFrame) / sampleRate || null;
  }
  const kilobits = BIT_RATES[isFirst ? 'first' : 'second'][(header >>> 12) & 15] ?? 0;
  return kilobits > 0 ? (size - start) / (kilobits * 125) : null;
};
