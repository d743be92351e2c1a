import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSegmenter, leadPid, mapPid, type Segment } from '../../service/streams/segmenter.ts';

interface Frame {
  pid?: number;
  /** When it is due, in ticks of 90 kHz. */
  time: number;
  isKeyframe?: boolean;
  /** How many packets it fills. */
  packets?: number;
}

const wrap = 2 ** 33;
let mark = 0;

/** One MPEG-TS packet; each is different. */
const packetOf = (pid: number, flags: { start?: boolean; isKeyframe?: boolean; time?: number }): Buffer => {
  const packet = Buffer.alloc(188, 0xff);
  packet.writeUInt32BE(mark++, 184);
  packet.set([0x47, (flags.start ? 0x40 : 0) | (pid >> 8), pid & 0xff, flags.isKeyframe ? 0x30 : 0x10]);
  let at = 4;
  if (flags.isKeyframe) {
    packet.set([7, 0x50, 0, 0, 0, 0, 0, 0], at);
    at += 8;
  }
  if (flags.time !== undefined) {
    const time = BigInt(flags.time % wrap);
    const part = (shift: bigint, bits: bigint) => Number((time >> shift) & ((1n << bits) - 1n));
    const stamp = [
      0x21 | (part(30n, 3n) << 1),
      part(22n, 8n),
      (part(15n, 7n) << 1) | 1,
      part(7n, 8n),
      (part(0n, 7n) << 1) | 1,
    ];
    packet.set([0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, ...stamp], at);
  }
  return packet;
};

const tables = [packetOf(0, { start: true }), packetOf(mapPid, { start: true })];

const frame = ({ pid = leadPid, time, isKeyframe = false, packets = 1 }: Frame): Buffer[] => [
  packetOf(pid, { start: true, isKeyframe, time }),
  ...Array.from({ length: packets - 1 }, () => packetOf(pid, {})),
];

const seconds = (count: number) => Math.round(count * 90_000);

/** `frames` frames of a camera, `rate` a second, with a keyframe every `gop`. */
const camera = (frames: number, rate: number, gop: number, start = 0) =>
  Array.from({ length: frames }, (_, n) =>
    frame({ time: start + seconds(n / rate), isKeyframe: n % gop === 0 }),
  ).flat();

type Found = ReturnType<ReturnType<typeof createSegmenter>['push']>[number];

const segmentsOf = (frames: Found[]): Segment[] => frames.flatMap(({ segment }) => segment ?? []);
const cut = (packets: Buffer[]): Segment[] =>
  segmentsOf(createSegmenter().push(Buffer.concat([...tables, ...packets])));
const durations = (segments: Segment[]) => segments.map(({ duration }) => Number(duration.toFixed(2)));

describe('a stream is cut', () => {
  it.each([
    ['short at first, then every half second', 25, 1000, [0.2, 0.52, 0.52, 0.52]],
    ['at every keyframe', 25, 15, [0.2, 0.4, 0.52, 0.08, 0.52, 0.08]],
    ['at one of keyframes that follow each other closely', 25, 1, [0.2, 0.28, 0.28, 0.28, 0.28, 0.28]],
    ['at every frame where they are slow', 1, 1000, [1, 1, 1]],
  ])('%s', (_, rate, gop, expected) => {
    const segments = cut(camera(101, rate, gop));
    expect(durations(segments).slice(0, expected.length)).toEqual(expected);
  });

  it('across the wrap of its clock', () => {
    const plain = durations(cut(camera(100, 25, 25)));
    expect(durations(cut(camera(100, 25, 25, wrap - seconds(1.5))))).toEqual(plain);
  });

  it('by its decoding times, where they are not those of showing', () => {
    const packets = camera(50, 25, 50);
    for (const packet of packets) {
      const at = packet[3] === 0x30 ? 12 : 4;
      const stamp = Buffer.from(packet.subarray(at + 9, at + 14));
      packet[at + 7] = 0xc0;
      packet.set(stamp, at + 14);
      packet.fill(0x21, at + 9, at + 14);
    }
    expect(durations(cut(packets))).toEqual(durations(cut(camera(50, 25, 50))));
  });

  it('by its sound, where it has no picture', () => {
    const packets = camera(100, 43, 1);
    expect(cut(packets).every(({ independent }) => independent)).toBe(true);
  });

  it('and says how far it is at each frame', () => {
    const frames = createSegmenter().push(Buffer.concat([...tables, ...camera(100, 25, 30, wrap - seconds(1.5))]));
    expect(frames.map(({ position }) => Number(position.toFixed(2)))).toEqual(
      Array.from({ length: 100 }, (_, n) => Number((n / 25).toFixed(2))),
    );
  });

  it('from its first keyframe on', () => {
    const early = [frame({ pid: leadPid + 1, time: 0 }), frame({ time: 0 }), frame({ time: 3600 })].flat();
    const [segment] = cut([...early, ...camera(25, 25, 25, 7200)]);
    expect(segment?.independent).toBe(true);
    expect(early.some((packet) => segment?.data.includes(packet))).toBe(false);
  });
});

/** Frames of a picture and of a sound, in any order and size, at times that never go back. */
const anyStream = fc
  .array(
    fc.record({
      pid: fc.constantFrom(leadPid, leadPid, leadPid + 1),
      step: fc.nat(30_000),
      isKeyframe: fc.boolean(),
      packets: fc.integer({ min: 1, max: 4 }),
    }),
    { maxLength: 60 },
  )
  .map((frames) => {
    let time = 0;
    return frames.map(({ step, ...rest }) => {
      time += step;
      return { ...rest, time };
    });
  });

const packetsIn = ({ data }: Segment) =>
  Array.from({ length: data.length / 188 }, (_, n) => data.subarray(188 * n, 188 * n + 188));

describe('whatever the stream', () => {
  it('its segments are headed by the tables and hold every packet once, in order', () => {
    fc.assert(
      fc.property(anyStream, (frames) => {
        const packets = frames.map(frame);
        const first = frames.findIndex(({ pid, isKeyframe }) => pid === leadPid && isKeyframe);
        const wanted = packets.slice(Math.max(0, first)).flat();
        const segments = cut(packets.flat());
        const held = segments.flatMap((segment) => packetsIn(segment).slice(2));
        expect(held.length).toBeLessThanOrEqual(wanted.length);
        expect(held.every((packet, n) => packet.equals(wanted[n] as Buffer))).toBe(true);
        for (const [n, segment] of segments.entries()) {
          const heads = packetsIn(segment).slice(0, 2);
          expect(heads.map((head) => head.readUInt16BE(1) & 0x1fff)).toEqual([0, mapPid]);
          expect(heads.map((head) => head.readUInt8(3) & 0x0f)).toEqual([n % 16, n % 16]);
        }
      }),
    );
  });

  it('a segment says whether it begins with a keyframe, and the times add up', () => {
    fc.assert(
      fc.property(anyStream, (frames) => {
        const lead = frames.filter(({ pid }) => pid === leadPid);
        const start = lead.findIndex(({ isKeyframe }) => isKeyframe);
        let time = lead[start]?.time ?? 0;
        for (const { independent, duration } of cut(frames.flatMap(frame))) {
          // Frames of the same time: the segment may begin with any of them.
          const keyframes = lead.filter((one) => one.time === time).map(({ isKeyframe }) => isKeyframe);
          expect(keyframes).toContain(independent);
          time += seconds(duration);
        }
      }),
    );
  });

  it('it does not matter how its bytes arrive', () => {
    fc.assert(
      fc.property(anyStream, fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }), (frames, sizes) => {
        const bytes = Buffer.concat([...tables, ...frames.flatMap(frame)]);
        const segmenter = createSegmenter();
        const found: Found[] = [];
        for (let at = 0, n = 0; at < bytes.length; n += 1) {
          const size = sizes[n % sizes.length] ?? 1;
          found.push(...segmenter.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(found).toEqual(createSegmenter().push(bytes));
      }),
    );
  });
});
