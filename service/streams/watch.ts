/** FLV (Adobe's specification, version 10.1): a header, then tags, each followed by its size. */
const fileHeader = 9;
const tagHeader = 11;
const sizeField = 4;

const videoTag = 9;
const avc = 7;
const sequenceHeader = 0;

/** The H.264 parameters in a tag; null: the tag has none. */
const parameters = (tag: Buffer): Buffer | null => {
  const body = tag.subarray(tagHeader, -sizeField);
  const isHeader = tag[0] === videoTag && ((body[0] ?? 0) & 0x0f) === avc && body[1] === sequenceHeader;
  return isHeader ? Buffer.from(body) : null;
};

/**
 * Watches the parameters of an H.264 stream in FLV. A server that keeps its viewers connected while one publisher
 * replaces another sends the new parameters once, between two frames. ffmpeg before 7 keeps the old parameters in its
 * MPEG-TS output, which no decoder can play; its FLV output has both.
 */
export const createFormatWatch = () => {
  let rest: Buffer = Buffer.alloc(0);
  let skip = fileHeader + sizeField;
  let known: Buffer | null = null;

  return {
    /** Takes the next bytes; returns true if the parameters differ from the first ones. */
    isOther(chunk: Buffer): boolean {
      rest = Buffer.concat([rest, chunk]);
      let isOther = false;
      for (;;) {
        const size = skip || (rest.length < tagHeader ? tagHeader : tagHeader + rest.readUIntBE(1, 3) + sizeField);
        if (rest.length < size) return isOther;
        const found = skip ? null : parameters(rest.subarray(0, size));
        known ??= found;
        if (found && known && !found.equals(known)) isOther = true;
        rest = rest.subarray(size);
        skip = 0;
      }
    },
  };
};

/** How much later than usual media may arrive (ms), and for how long (ms) it may be later than that. */
const slack = 1_000;
const patience = 1_500;

/** Tolerated clock drift: the usual delay may grow by this much per millisecond... */
const drift = 0.05;
/** ...but for at most this long (ms) per frame: a source that sends nothing is not slow but disconnected. */
const longestFrame = 100;

/**
 * Checks whether a live source keeps pace with the clock. Network delays and bursts even out quickly. Media that stays
 * late comes from a publisher that restarted behind a server that keeps its viewers connected: its time stamps begin
 * again, and ffmpeg, whose output time never goes back, makes no progress.
 */
export const createPace = () => {
  let usual = Number.POSITIVE_INFINITY;
  let judgedAt = 0;
  let lateSince: number | null = null;

  return {
    /** @param now, position arrival time and media time of a frame, in ms, each with its own origin */
    isLost(now: number, position: number): boolean {
      const delay = now - position;
      if (lateSince === null) usual += drift * Math.min(now - judgedAt, longestFrame);
      judgedAt = now;
      if (delay <= usual + slack) {
        usual = Math.min(usual, delay);
        lateSince = null;
        return false;
      }
      lateSince ??= now;
      return now - lateSince >= patience;
    },
  };
};
