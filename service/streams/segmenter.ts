/** A piece of a stream: whole MPEG-TS packets, headed by their own program tables. */
export interface Segment {
  data: Buffer;
  /** In seconds. */
  duration: number;
  /** Begins with a keyframe: a player can start here. */
  independent: boolean;
}

/** MPEG-TS (ISO/IEC 13818-1): packets of 188 bytes; time stamps at 90 kHz in 33 bits, which wrap every 26.5 h. */
const packetSize = 188;
const clockRate = 90_000;
const clockRange = 2 ** 33;

/** The PIDs that the multiplexer is told to use: the map of the one program, and the first stream in it. */
export const mapPid = 0x1000;
export const leadPid = 0x100;

/** A player paints once it has one segment: the first is short. Later ones trade delay for requests. */
const firstSeconds = 0.2;
const segmentSeconds = 0.5;
/** Keyframes that follow each other faster than this share a segment. */
const leastSeconds = 0.25;

const byte = (packet: Buffer, at: number): number => packet[at] ?? 0;

const pidOf = (packet: Buffer): number => ((byte(packet, 1) & 0x1f) << 8) | byte(packet, 2);

/** Whether a packet is the first of a frame. */
const isStart = (packet: Buffer): boolean => (byte(packet, 1) & 0x40) !== 0;

const hasAdaptation = (packet: Buffer): boolean => (byte(packet, 3) & 0x20) !== 0;

/** The random access indicator, in an adaptation field that is not empty. */
const isKeyframe = (packet: Buffer): boolean =>
  hasAdaptation(packet) && byte(packet, 4) > 0 && (byte(packet, 5) & 0x40) !== 0;

/** When the frame that starts in this packet is due for decoding: its DTS, else its PTS; null: it has neither. */
const decodingTime = (packet: Buffer): number | null => {
  const header = 4 + (hasAdaptation(packet) ? 1 + byte(packet, 4) : 0);
  const flags = byte(packet, header + 7) >> 6;
  if (flags < 2) return null;
  const at = header + (flags === 3 ? 14 : 9);
  const pair = (offset: number) => ((byte(packet, at + offset) << 8) | byte(packet, at + offset + 1)) >> 1;
  return ((byte(packet, at) >> 1) & 7) * 2 ** 30 + pair(1) * 2 ** 15 + pair(3);
};

/** A table as it heads a segment: its packets are numbered, modulo 16. */
const numbered = (table: Buffer, number: number): Buffer => {
  const copy = Buffer.from(table);
  copy[3] = (byte(copy, 3) & 0xf0) | (number & 0x0f);
  return copy;
};

/** A frame of the first stream: the video, where there is one. */
interface Frame {
  /** How much media has come before it, in seconds. */
  position: number;
  /** What ended with it. */
  segment: Segment | null;
}

/**
 * Cuts the MPEG-TS that comes out of ffmpeg into segments, as its bytes arrive. A segment is cut before a frame of
 * the first stream: at each keyframe, and in between as soon as it is long enough. What comes before the first keyframe
 * is dropped, and so is what follows the last cut when the stream ends.
 */
export const createSegmenter = (): { push(chunk: Buffer): Frame[] } => {
  let rest: Buffer = Buffer.alloc(0);
  let association: Buffer = rest;
  let map: Buffer = rest;
  let open: { start: number; independent: boolean; packets: Buffer[] } | undefined;
  let position = 0;
  let count = 0;

  const begin = (start: number, independent: boolean): void => {
    open = { start, independent, packets: [numbered(association, count), numbered(map, count)] };
    count += 1;
  };

  const onFrame = (packet: Buffer): Frame | undefined => {
    const time = decodingTime(packet);
    const isKey = isKeyframe(packet);
    if (time === null || (!open && !isKey)) return undefined;
    if (!open) {
      begin(time, true);
      return { position, segment: null };
    }
    const { start, independent, packets } = open;
    const duration = ((time - start + clockRange) % clockRange) / clockRate;
    const isLong = duration >= (count === 1 ? firstSeconds : segmentSeconds);
    const isCrowded = independent && duration < leastSeconds;
    if (!isLong && (!isKey || isCrowded)) return { position: position + duration, segment: null };
    begin(time, isKey);
    position += duration;
    return { position, segment: { data: Buffer.concat(packets), duration, independent } };
  };

  return {
    push(chunk) {
      const data = Buffer.concat([rest, chunk]);
      const frames: Frame[] = [];
      let at = 0;
      for (; at + packetSize <= data.length; at += packetSize) {
        const packet = data.subarray(at, at + packetSize);
        const pid = pidOf(packet);
        if (pid === 0) association = packet;
        else if (pid === mapPid) map = packet;
        else if (pid >= leadPid) {
          const frame = pid === leadPid && isStart(packet) ? onFrame(packet) : undefined;
          if (frame) frames.push(frame);
          open?.packets.push(packet);
        }
      }
      rest = data.subarray(at);
      return frames;
    },
  };
};
