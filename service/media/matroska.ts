import type { Budget } from './budget.ts';

/** The metadata of a WebM or Matroska file (RFC 9559), in pixels and seconds; null: not in the file. */
interface MatroskaFacts {
  width: number | null;
  height: number | null;
  duration: number | null;
}

interface Element {
  id: number;
  content: Buffer;
}

const ID = {
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  track: 0xae,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
} as const;

/** A variable-size integer (RFC 8794, 4): its length in bytes, and its value with or without the length marker. */
const integerAt = (bytes: Buffer, at: number, keepsMarker: boolean): { value: number; length: number } | null => {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || length > 8 || at + length > bytes.length) return null;
  let value = keepsMarker ? first : first & (0xff >> length);
  for (let next = 1; next < length; next += 1) value = value * 256 + (bytes[at + next] ?? 0);
  return { value, length };
};

/** The child elements, one level deep. The last may be truncated or of unknown length. */
function* elements(bytes: Buffer, budget: Budget): Generator<Element> {
  for (let at = 0; at < bytes.length && budget.spend(); ) {
    const id = integerAt(bytes, at, true);
    const size = id && integerAt(bytes, at + id.length, false);
    if (!size) return;
    const from = at + id.length + size.length;
    // An unknown length (all ones), like a truncated element, extends to the end of its parent.
    yield { id: id.value, content: bytes.subarray(from, from + size.value) };
    at = from + size.value;
  }
}

const find = (bytes: Buffer, id: number, budget: Budget): Buffer | undefined => {
  for (const element of elements(bytes, budget)) if (element.id === id) return element.content;
  return undefined;
};

const unsigned = (bytes: Buffer | undefined): number | null =>
  bytes !== undefined && bytes.length >= 1 && bytes.length <= 6 ? bytes.readUIntBE(0, bytes.length) : null;

const float = (bytes: Buffer | undefined): number | null =>
  bytes?.length === 8 ? bytes.readDoubleBE(0) : bytes?.length === 4 ? bytes.readFloatBE(0) : null;

/**
 * Reads the metadata; null for values that are not found within the budget.
 * @param head the beginning of the file, long enough to hold its headers
 */
export const matroskaFacts = (head: Buffer, budget: Budget): MatroskaFacts => {
  const within = (bytes: Buffer | undefined, id: number) => bytes && find(bytes, id, budget);
  const segment = within(head, ID.segment);
  const info = within(segment, ID.info);
  const ticks = float(within(info, ID.duration));
  const nanoseconds = unsigned(within(info, ID.timestampScale)) ?? 1_000_000;
  const duration = ticks !== null && ticks > 0 && Number.isFinite(ticks) ? (ticks * nanoseconds) / 1e9 : null;
  for (const { id, content } of elements(within(segment, ID.tracks) ?? Buffer.alloc(0), budget)) {
    const video = id === ID.track ? within(content, ID.video) : undefined;
    if (video === undefined) continue;
    return { duration, width: unsigned(within(video, ID.pixelWidth)), height: unsigned(within(video, ID.pixelHeight)) };
  }
  return { duration, width: null, height: null };
};
