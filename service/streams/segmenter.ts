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

/** Where the payload of a packet starts, behind its adaptation field. */
const payloadAt = (packet: Buffer) => 4 + (packet.readUInt8(3) & 0x20 ? 1 + packet.readUInt8(4) : 0);

/** The random access indicator: an adaptation field that is there, is not empty and has the flag. */
const isKeyframe = (packet: Buffer) =>
  (packet.readUInt8(3) & 0x20) !== 0 && packet.readUInt8(4) > 0 && (packet.readUInt8(5) & 0x40) !== 0;

/** When the frame that starts in this packet is due for decoding: its DTS, else its PTS. Null: it has neither. */
function decodingTime(packet: Buffer): number | null {
  const header = payloadAt(packet);
  const flags = packet.readUInt8(header + 7) >> 6;
  if (flags < 2) return null;
  const at = header + (flags === 3 ? 14 : 9);
  const high = (packet.readUInt8(at) >> 1) & 7;
  return high * 2 ** 30 + (packet.readUInt16BE(at + 1) >> 1) * 2 ** 15 + (packet.readUInt16BE(at + 3) >> 1);
}

/**
 * Cuts the MPEG-TS that comes out of ffmpeg into segments, as its bytes arrive. A segment is cut before a frame of
 * the first stream (the video, where there is one): at each keyframe, and in between as soon as it is long enough.
 * What comes before the first keyframe is dropped, and so is what follows the last cut when the stream ends.
 */
export function createSegmenter(): { push(chunk: Buffer): Segment[] } {
  let rest: Buffer = Buffer.alloc(0);
  let association: Buffer | undefined;
  let map: Buffer | undefined;
  let open: { start: number; independent: boolean; packets: Buffer[] } | undefined;
  let count = 0;

  /** The tables as the next segment carries them: a copy, counted as the standard wants packets of a PID counted. */
  const tables = () =>
    [association, map].map((packet) => {
      const copy = Buffer.from(packet ?? []);
      copy[3] = ((copy[3] ?? 0) & 0xf0) | (count & 0x0f);
      return copy;
    });

  /** Begins a segment at a frame where one is due; the one that ends with it. */
  function cut(packet: Buffer): Segment | undefined {
    const time = decodingTime(packet);
    const independent = isKeyframe(packet);
    if (time === null || (!open && !independent)) return undefined;
    const duration = open ? ((time - open.start + clockRange) % clockRange) / clockRate : 0;
    const due = independent ? leastSeconds : segmentSeconds;
    if (open && duration < (count === 1 ? firstSeconds : due)) return undefined;
    const done = open && { data: Buffer.concat(open.packets), duration, independent: open.independent };
    open = { start: time, independent, packets: tables() };
    count += 1;
    return done;
  }

  function push(chunk: Buffer): Segment[] {
    const data = Buffer.concat([rest, chunk]);
    const whole = data.length - (data.length % packetSize);
    const segments: Segment[] = [];
    for (let at = 0; at < whole; at += packetSize) {
      const packet = data.subarray(at, at + packetSize);
      const pid = packet.readUInt16BE(1) & 0x1fff;
      if (pid === 0) association = packet;
      else if (pid === mapPid) map = packet;
      else if (pid >= leadPid) {
        const begins = (packet.readUInt8(1) & 0x40) !== 0;
        const segment = pid === leadPid && begins ? cut(packet) : undefined;
        if (segment) segments.push(segment);
        open?.packets.push(packet);
      }
    }
    rest = data.subarray(whole);
    return segments;
  }

  return { push };
}
