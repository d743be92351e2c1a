/** A segment of a stream: whole MPEG-TS packets, preceded by program tables. */
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

/** The PIDs that ffmpeg's multiplexer uses: the program map table, and the first elementary stream. */
export const mapPid = 0x1000;
export const leadPid = 0x100;

/** In seconds. The first segment is short, so that players show a picture soon; later ones are longer to save requests. */
const firstSeconds = 0.2;
const segmentSeconds = 0.5;
/** Keyframes closer together than this, in seconds, share a segment. */
const minSeconds = 0.25;

const byte = (packet: Buffer, at: number): number => packet[at] ?? 0;

const pidOf = (packet: Buffer): number => ((byte(packet, 1) & 0x1f) << 8) | byte(packet, 2);

/** Whether a packet is the first of a frame. */
const isStart = (packet: Buffer): boolean => (byte(packet, 1) & 0x40) !== 0;

const hasAdaptation = (packet: Buffer): boolean => (byte(packet, 3) & 0x20) !== 0;

/** The random access indicator, in an adaptation field that is not empty. */
const isKeyframe = (packet: Buffer): boolean =>
  hasAdaptation(packet) && byte(packet, 4) > 0 && (byte(packet, 5) & 0x40) !== 0;

/** The decoding time of the frame that starts in this packet: its DTS, else its PTS; null: it has neither. */
const decodingTime = (packet: Buffer): number | null => {
  const header = 4 + (hasAdaptation(packet) ? 1 + byte(packet, 4) : 0);
  const flags = byte(packet, header + 7) >> 6;
  if (flags < 2) return null;
  const at = header + (flags === 3 ? 14 : 9);
  const pair = (offset: number) => ((byte(packet, at + offset) << 8) | byte(packet, at + offset + 1)) >> 1;
  return ((byte(packet, at) >> 1) & 7) * 2 ** 30 + pair(1) * 2 ** 15 + pair(3);
};

/** A copy of a table packet with its continuity counter set, modulo 16. */
const numbered = (table: Buffer, number: number): Buffer => {
  const copy = Buffer.from(table);
  copy[3] = (byte(copy, 3) & 0xf0) | (number & 0x0f);
  return copy;
};

/** A frame of the first elementary stream, which is the video if there is one. */
interface Frame {
  /** Its media time since the first frame, in seconds. */
  position: number;
  /** The segment that this frame completes. */
  segment: Segment | null;
}

/**
 * Cuts the MPEG-TS output of ffmpeg into segments as its bytes arrive. A segment is cut before a frame of the first
 * stream: at each keyframe, and in between as soon as it is long enough. Media before the first keyframe, and after the
 * last cut when the stream ends, is dropped.
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
    const isCrowded = independent && duration < minSeconds;
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
