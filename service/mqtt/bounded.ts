/** Keeps packets of a broker that would be held in memory away from the parser: large ones, and those to be acknowledged. */
import { Transform, type TransformCallback } from 'node:stream';

/** Bytes of the length of a packet at most (MQTT 3.1.1, 2.2.3). */
const MAX_LENGTH_BYTES = 4;

/** CONNACK, PUBACK, SUBACK and PINGRESP, by the upper half of the first byte (MQTT 3.1.1, 2.2.1). */
const ANSWERS = [2, 4, 9, 13];
const PUBLISH = 3;

/** Whether a client that subscribes at QoS 0 alone has a use for it: of PUBLISH the QoS is in two bits. */
const isExpected = (first: number): boolean => {
  const type = first >> 4;
  return type === PUBLISH ? (first & 0b110) === 0 : ANSWERS.includes(type);
};

/**
 * Passes MQTT packets of up to `most` bytes that are answers or need none, and leaves out the others as they arrive.
 * @param onDropped called with the length of each that is too large
 */
export const boundedPackets = (most: number, onDropped: (bytes: number) => void): Transform => {
  /** The first byte and the length of the packet that begins. */
  let head: number[] = [];
  /** Bytes of the current packet that are still to come. */
  let rest = 0;
  let isKept = true;

  /** @returns false: the bytes are no MQTT */
  const take = (byte: number): boolean => {
    head.push(byte);
    if (head.length === 1 || byte >= 128) return head.length <= MAX_LENGTH_BYTES;
    rest = head.slice(1).reduce((sum, each, index) => sum + (each & 127) * 128 ** index, 0);
    if (rest > most) onDropped(rest);
    isKept = rest <= most && isExpected(head[0] ?? 0);
    return true;
  };

  const transform = function (this: Transform, chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    for (let at = 0; at < chunk.length; ) {
      if (rest > 0) {
        const part = chunk.subarray(at, at + rest);
        if (isKept) this.push(part);
        at += part.length;
        rest -= part.length;
        if (rest === 0) head = [];
        continue;
      }
      if (!take(chunk[at] ?? 0)) return done(new Error('it does not speak MQTT'));
      at += 1;
      const isComplete = head.length > 1 && (head.at(-1) ?? 0) < 128;
      if (!isComplete) continue;
      if (isKept) this.push(Buffer.from(head));
      if (rest === 0) head = [];
    }
    done();
  };
  return new Transform({ transform });
};
